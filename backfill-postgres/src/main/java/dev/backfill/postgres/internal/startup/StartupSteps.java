package dev.backfill.postgres.internal.startup;

import dev.backfill.BackfillException;
import dev.backfill.BackfillId;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.postgres.internal.control.BootStart;
import dev.backfill.postgres.internal.control.OperatorEvents;
import dev.backfill.postgres.internal.control.Unavailability;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.Redaction;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.migrate.LibraryTables;
import dev.backfill.postgres.internal.migrate.Migration;
import dev.backfill.postgres.internal.migrate.Migrator;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.migrate.SchemaVersion;
import dev.backfill.postgres.internal.row.LibraryVersion;
import dev.backfill.postgres.internal.row.RegistrationSql;
import dev.backfill.postgres.internal.supervise.Supervisor;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The steps of startup, each idempotent, so that an attempt that failed half-way is simply made again: find the schema, migrate or
 * verify, the host's migrations, register the complete set, start what is required. Thread-safe.
 */
public final class StartupSteps {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    private final Configuration configuration;
    private final List<Migration> steps;
    private final Events events;
    private final Supervisor supervisor;
    private final ControlGraph controls;
    private final Sessions sessions;
    private final AtomicReference<@Nullable EngineGraph> verified = new AtomicReference<>();
    private final Set<BackfillId> toStart;
    private final Map<BackfillId, BootStart.Refusal> refused = new ConcurrentHashMap<>();
    private volatile @Nullable BackfillException problem;
    private volatile boolean schemaSettled;
    // Kept for what it has said already; used by the boot thread only.
    private @Nullable Migrator migrator;

    StartupSteps(
            Configuration configuration,
            List<Migration> steps,
            Events events,
            Supervisor supervisor,
            ControlGraph controls) {
        this.configuration = configuration;
        this.steps = steps;
        this.toStart = Collections.synchronizedSet(
                new LinkedHashSet<>(configuration.registry().required()));
        this.events = events;
        this.supervisor = supervisor;
        this.controls = controls;
        this.sessions = new Sessions(
                configuration.connections(), configuration.options().preparedStatements());
    }

    /**
     * One attempt at everything that workers need: tables and registered definitions.
     *
     * @return whether they may start; false when another process is migrating
     * @throws BackfillException what is wrong and what to do; another attempt may succeed
     */
    boolean attempt() {
        try {
            Duration patience = configuration.options().operatorTimeout();
            if (configuration.mode() == SchemaMode.MIGRATE
                    && !migrator(names(patience)).migrate()) {
                return false;
            }
            EngineGraph engine = engine(patience);
            if (configuration.mode() == SchemaMode.MIGRATE) {
                hostMigrations();
            }
            schemaSettled = true;
            register(engine);
            problem = null;
            return true;
        } catch (SQLException e) {
            throw remember(Unavailability.of(e));
        } catch (BackfillException e) {
            throw remember(e);
        }
    }

    /**
     * Starts what is required and still pending. What PostgreSQL's catalog is not ready for stays pending and may be tried again: the
     * column that it needs may come with a migration that somebody else applies later. One that can't be started holds up no other.
     *
     * @throws BackfillUnavailableException when PostgreSQL could not be asked, or could not start one of them
     */
    void startRequired() {
        EngineGraph engine = engine(configuration.options().operatorTimeout());
        SQLException first = null;
        for (BackfillId id : List.copyOf(toStart)) {
            try {
                start(engine, id);
            } catch (SQLException e) {
                first = first == null ? e : first;
                if (SqlFailure.of(e) == SqlFailure.INFRASTRUCTURE) {
                    // Nor would the others be had, each after a wait of its own.
                    break;
                }
            }
        }
        if (first != null) {
            throw remember(Unavailability.of(first));
        }
        problem = null;
    }

    /**
     * Whether what startup promised still holds: the tables, a row for each definition, and no required one that nobody started. An
     * unreadable database says nothing about it.
     */
    boolean isKept() {
        EngineGraph engine = engine(configuration.options().operatorTimeout());
        try {
            return engine.transactions()
                    .inTransaction(session -> new RegistrationSql(engine.names())
                            .isKept(session, configuration.registry().ids(), required()));
        } catch (SQLException e) {
            return SqlFailure.of(e) != SqlFailure.SCHEMA;
        }
    }

    /** The required set is to be started again, as far as it is pending. */
    void promiseAgain() {
        toStart.addAll(configuration.registry().required());
    }

    private List<String> required() {
        return configuration.registry().required().stream()
                .filter(id -> !refused.containsKey(id))
                .map(BackfillId::value)
                .toList();
    }

    /** Required backfills that could not be started so far, and why. */
    Map<BackfillId, BootStart.Refusal> refused() {
        return refused;
    }

    /** Whether the library's tables were found usable and the host's own migrations are done. */
    boolean schemaSettled() {
        return schemaSettled;
    }

    /** Refuses and aborts everything that this engine has open on the database. */
    void abortSessions() {
        sessions.close();
    }

    private <E extends BackfillException> E remember(E e) {
        problem = e;
        return e;
    }

    /** What keeps startup from being complete, as far as is known; null when nothing does. */
    @Nullable
    BackfillException problem() {
        return problem;
    }

    /**
     * The object graph, once the library's tables were found usable; asked for anew on each call until then.
     *
     * @param patience how long to wait for an answer of the server
     * @throws BackfillUnavailableException while they can't be used
     */
    EngineGraph engine(Duration patience) {
        EngineGraph known = verified.get();
        if (known != null) {
            return known;
        }
        try {
            Names names = names(patience);
            try (Session session = sessions.open(patience)) {
                SchemaVersion.read(session, names).require(names, steps);
                requireTables(session, names);
            }
            EngineGraph made = new EngineGraph(configuration, names, sessions, events, supervisor, controls);
            return verified.compareAndSet(null, made) ? made : Objects.requireNonNull(verified.get());
        } catch (SQLException e) {
            throw Unavailability.of(e);
        }
    }

    /**
     * Looks whether all tables are whole. Not for an engine that stands for another version of the library in a test: what that one
     * needs is not known here.
     *
     * @throws BackfillUnavailableException with the first that is not
     */
    void requireTables(Session session, Names names) throws SQLException {
        if (steps.equals(Migration.ALL)) {
            LibraryTables.require(session, names);
        }
    }

    private Migrator migrator(Names names) {
        Migrator known = migrator;
        if (known == null || !known.names().equals(names)) {
            known = new Migrator(sessions, names, steps);
            migrator = known;
        }
        return known;
    }

    private Names names(Duration patience) throws SQLException {
        String given = configuration.schemaName();
        if (given != null) {
            return new Names(given);
        }
        try (Session session = sessions.open(patience);
                PreparedStatement statement = session.connection()
                        .prepareStatement("/* backfill:schema */ SELECT pg_catalog.current_schema()");
                ResultSet row = statement.executeQuery()) {
            row.next();
            String schema = row.getString(1);
            if (schema == null) {
                throw new BackfillUnavailableException(
                        BackfillUnavailableException.Reason.SCHEMA_MISSING,
                        "No schema of the connection's search path exists, so the tables of Backfill have no place. Name one with"
                                + " schemaName(...).",
                        null);
            }
            return new Names(schema);
        }
    }

    private void hostMigrations() {
        if (configuration.hostMigrations() == null) {
            return;
        }
        try {
            configuration.hostMigrations().run();
        } catch (Exception e) {
            throw new BackfillException(
                    "The host's own migrations failed (" + e.getClass().getName()
                            + "). No backfill was registered or started; the next attempt runs them again.",
                    Redaction.of(e));
        }
    }

    private void register(EngineGraph engine) throws SQLException {
        RegistrationSql registration = new RegistrationSql(engine.names());
        engine.transactions().inTransaction(session -> {
            registration.insertMissing(session, configuration.registry().ids());
            return true;
        });
        engine.transactions().inTransaction(session -> {
            registration.describe(session, configuration.registry().all(), LibraryVersion.TEXT);
            return true;
        });
    }

    private void start(EngineGraph engine, BackfillId id) throws SQLException {
        OperatorRequest request = new OperatorRequest(id, "startup-" + UUID.randomUUID(), Authority.startup(), null);
        // Recorded once: a start that is tried every few seconds must not fill the audit.
        BootStart.Refusal why = new BootStart(engine.handlers().lifecycle(), new OperatorEvents(events))
                .start(request, !refused.containsKey(id))
                .orElse(null);
        if (why == null) {
            toStart.remove(id);
            refused.remove(id);
        } else if (!why.equals(refused.put(id, why))) {
            LOG.atWarn()
                    .addKeyValue("backfill", id)
                    .addKeyValue("code", why.code().wireName())
                    .addKeyValue("findings", why.findings())
                    .log("A required backfill can't be started yet; its preflight says what to do");
        }
    }
}
