package dev.backfill.host;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillException;
import dev.backfill.Family;
import dev.backfill.InvalidDefinitionException;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.spi.AuditSink;
import dev.backfill.spi.BackfillListener;
import dev.backfill.spi.OperatorAuthorizer;

/**
 * The host's handle on one started engine. Thread-safe.
 *
 * @since 0.1
 */
public interface Backfills extends AutoCloseable {

    /**
     * The readiness gate, rebuilt from PostgreSQL. Cheap to poll: results are shared between callers for up to a second, and once the
     * backfills are open they stay open without a look at them; the library's tables are looked at each time. Never throws for a database
     * that can't be read. May wait for a connection of the pool, and two seconds for the server: not for an event loop.
     */
    Readiness readiness();

    /** The operator plane. */
    BackfillOperations operations();

    /**
     * A worker that the caller steps itself, on its own thread; the engine's own workers are unaffected.
     *
     * <p>The engine's deadline for a definition's code does not watch the caller's thread.
     *
     * @param name for people: claim owner and log lines
     * @throws BackfillException what keeps startup from being complete, as {@link #requireStarted}; or that the engine is closed
     */
    BackfillWorker worker(String name);

    /**
     * Throws the typed error that keeps startup from being complete, if there is one: for hosts that would rather fail at boot.
     *
     * @throws BackfillException what is wrong and what to do
     */
    void requireStarted();

    /**
     * Stops taking work, lets the current batches end or roll back, releases claims, ends every thread of this engine. Returns
     * within the close timeout, and up to two seconds later where validations or listeners hang; idempotent; keeps the interrupt. What could not be released in time lapses with its lease (BB-3).
     */
    @Override
    void close();

    /** Collects what an engine needs. Confined to one thread. */
    interface Builder {

        /** Adds definitions; IDs must be distinct within a process. */
        Builder definitions(BackfillDefinition<?>... definitions);

        /** Adds definitions, or the parts of a {@link Family}. */
        Builder definitions(Iterable<? extends BackfillDefinition<?>> definitions);

        /**
         * Automatic mode: these start at boot and gate readiness until completed (CF-1). The ID of a family stands for all of its
         * parts. Left out: manual mode.
         */
        Builder requiredAtStartup(String... ids);

        /** What to do about the library's tables; default {@link SchemaMode#VERIFY}. */
        Builder schema(SchemaMode mode);

        /** The schema of the library's tables; default: the first of the connection's search path. */
        Builder schemaName(String schema);

        /** Time limits, workers and retries; default {@link EngineOptions#defaults()}. */
        Builder options(EngineOptions options);

        /** Who is an operator; default nobody, which startup warns of. {@link OperatorAuthorizer#denyAll()} is nobody on purpose. */
        Builder operators(OperatorAuthorizer authorizer);

        /** Where audit records go; default the library's table, which alone is read back. */
        Builder audit(AuditSink sink);

        /** Who hears of events; may be given several times. */
        Builder listener(BackfillListener listener);

        /** The host's own migrations, run at startup after the library's when the mode is {@link SchemaMode#MIGRATE}. */
        Builder hostMigrations(HostMigrations migrations);

        /**
         * The name of this process in claims, logs and thread names, 1 to 100 characters; default the environment's {@code HOSTNAME}
         * (in a container the name of the pod; {@code host} where there is none) and the process ID.
         */
        Builder processName(String name);

        /**
         * Checks the configuration, migrates or verifies, registers, starts the workers and initiates the required set in automatic
         * mode. Returns without waiting for any backfill (CF-3), once the first attempt is over or after five seconds: migrations
         * that take longer, the host's included, go on on a thread of the engine, and readiness stays closed meanwhile. A database that
         * can't be used is no exception here: readiness says so, and the engine goes on trying.
         *
         * @throws InvalidDefinitionException if the configuration breaks a rule
         */
        Backfills startup();
    }

    /** The host's own schema changes. */
    @FunctionalInterface
    interface HostMigrations {
        /**
         * Applies them, idempotently; several processes may call this at once. Called on the engine's boot thread, without a
         * connection or transaction of the engine; called again after a failure; interrupted when the engine closes.
         *
         * @throws Exception keeps startup incomplete; it is tried again
         */
        void run() throws Exception;
    }
}
