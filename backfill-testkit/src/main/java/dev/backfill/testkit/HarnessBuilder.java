package dev.backfill.testkit;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillException;
import dev.backfill.host.Backfills;
import dev.backfill.host.BackfillsProvider;
import dev.backfill.host.EngineOptions;
import dev.backfill.host.HealthLimits;
import dev.backfill.host.SchemaMode;
import dev.backfill.spi.AuditSink;
import dev.backfill.spi.BackfillListener;
import dev.backfill.spi.ConnectionSource;
import dev.backfill.spi.OperatorAuthorizer;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.ServiceLoader;
import java.util.concurrent.locks.LockSupport;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;

/**
 * Collects what a {@link BackfillHarness} is to be. Confined to one thread.
 *
 * @since 0.1
 */
public final class HarnessBuilder {

    private static final Duration STARTUP_LIMIT = Duration.ofSeconds(20);
    private static final Duration POLL = Duration.ofMillis(2);

    private final TestDatabase database;
    private final List<BackfillDefinition<?>> definitions = new ArrayList<>();
    private final List<Consumer<Backfills.Builder>> further = new ArrayList<>();
    private final EngineOptions.Builder options = EngineOptions.builder()
            .workers(0)
            .poll(Duration.ofMillis(20))
            .closeTimeout(Duration.ofSeconds(5))
            .health(HealthLimits.none());
    private ConnectionSource connections;
    private SchemaMode mode = SchemaMode.MIGRATE;
    private OperatorAuthorizer authorizer = (authority, capability) -> BackfillHarness.OPERATOR.equals(authority);
    private @Nullable String schema;

    HarnessBuilder(TestDatabase database) {
        this.database = database;
        this.connections = database;
    }

    /** Adds definitions; may be called again, and may add none. */
    public HarnessBuilder definitions(BackfillDefinition<?>... more) {
        definitions.addAll(List.of(more));
        return this;
    }

    /** Adds definitions, or the parts of a family. */
    public HarnessBuilder definitions(Iterable<? extends BackfillDefinition<?>> more) {
        more.forEach(definitions::add);
        return this;
    }

    /** Where the engine's connections come from; default the database. The harness's own looks at the row never come from here. */
    public HarnessBuilder connections(ConnectionSource source) {
        this.connections = source;
        return this;
    }

    /** Changes options; those of a harness have no workers, a poll of 20 ms, a close timeout of 5 s, no health limits, and the defaults otherwise. */
    public HarnessBuilder options(Consumer<EngineOptions.Builder> change) {
        change.accept(options);
        return this;
    }

    /** Automatic mode with these IDs. */
    public HarnessBuilder requiredAtStartup(String... ids) {
        return with(builder -> builder.requiredAtStartup(ids));
    }

    /** What startup does about the library's tables; default {@link SchemaMode#MIGRATE}. */
    public HarnessBuilder schema(SchemaMode schemaMode) {
        this.mode = schemaMode;
        return this;
    }

    /** The schema of the library's tables, which must exist; default the first of the search path. */
    public HarnessBuilder schemaName(String name) {
        this.schema = name;
        return with(builder -> builder.schemaName(name));
    }

    /** Who is an operator; default {@link BackfillHarness#OPERATOR} alone. */
    public HarnessBuilder operators(OperatorAuthorizer who) {
        this.authorizer = who;
        return this;
    }

    /** Where audit records go; default the library's table. */
    public HarnessBuilder audit(AuditSink sink) {
        return with(builder -> builder.audit(sink));
    }

    /** Who hears of events. */
    public HarnessBuilder listener(BackfillListener listener) {
        return with(builder -> builder.listener(listener));
    }

    /** The name of this process in claims. */
    public HarnessBuilder processName(String name) {
        return with(builder -> builder.processName(name));
    }

    /** Anything else of the engine's own builder. */
    public HarnessBuilder with(Consumer<Backfills.Builder> change) {
        further.add(change);
        return this;
    }

    /**
     * Starts the engine.
     *
     * @throws IllegalStateException if there is no engine on the class path
     * @throws dev.backfill.BackfillException if startup could not be completed
     */
    public BackfillHarness open() {
        Backfills backfills = openUnchecked();
        try {
            awaitStarted(backfills);
        } catch (RuntimeException e) {
            backfills.close();
            throw e;
        }
        return new BackfillHarness(backfills, new LibraryTables(database, schema));
    }

    /** Starts the engine even if its startup can't be completed, for tests of just that. */
    public BackfillHarness openIncomplete() {
        return new BackfillHarness(openUnchecked(), new LibraryTables(database, schema));
    }

    /** Startup returns at once and goes on trying; a test wants it done, or to know why not. */
    private static void awaitStarted(Backfills backfills) {
        long deadline = System.nanoTime() + STARTUP_LIMIT.toNanos();
        while (true) {
            try {
                backfills.requireStarted();
                return;
            } catch (BackfillException e) {
                if (System.nanoTime() - deadline > 0) {
                    throw e;
                }
                LockSupport.parkNanos(POLL.toNanos());
            }
        }
    }

    private Backfills openUnchecked() {
        Backfills.Builder builder = provider()
                .on(connections)
                .definitions(definitions)
                .schema(mode)
                .operators(authorizer)
                .options(options.build());
        further.forEach(change -> change.accept(builder));
        return builder.startup();
    }

    private static BackfillsProvider provider() {
        return ServiceLoader.load(BackfillsProvider.class)
                .findFirst()
                .orElseThrow(() ->
                        new IllegalStateException("There is no engine on the class path for the harness to step. Add"
                                + " dev.backfill:backfill-postgres to the test dependencies."));
    }
}
