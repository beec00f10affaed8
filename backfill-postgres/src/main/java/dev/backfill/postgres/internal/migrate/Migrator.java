package dev.backfill.postgres.internal.migrate;

import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.postgres.internal.jdbc.Limits;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;

/**
 * Applies missing migrations, one process at a time (SC-3): each step is one transaction, which holds an advisory lock, so that a
 * crash frees it and a transaction-pooling proxy keeps it. Isolation and limits are set for that transaction, whatever the database,
 * the role or the pool defaults to. Thread-safe.
 */
public final class Migrator {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");
    private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration LONGEST_STEP = Duration.ofMinutes(1);
    private static final Duration SOCKET_TIMEOUT = LONGEST_STEP.multipliedBy(2);

    // READ COMMITTED, so that what is read after the lock was had is what its former holder left behind.
    private static final Sql BEGIN =
            Sql.of("SET TRANSACTION ISOLATION LEVEL READ COMMITTED;/* backfill:migrate */ SELECT "
                    + new Limits(LONGEST_STEP, LOCK_TIMEOUT, LONGEST_STEP, SOCKET_TIMEOUT).asSelectItems());

    private static final Sql TRY_LOCK = Sql.of("/* backfill:migrate */ SELECT"
            + " pg_catalog.pg_try_advisory_xact_lock(1113678699, pg_catalog.hashtext(:schema)) AS locked");

    private final Sessions sessions;
    private final Names names;
    private final List<Migration> steps;
    private final Set<Integer> announced = ConcurrentHashMap.newKeySet();

    /** For the library's tables of one schema. */
    public Migrator(Sessions sessions, Names names, List<Migration> steps) {
        this.sessions = sessions;
        this.names = names;
        this.steps = List.copyOf(steps);
    }

    /** The tables that it migrates. */
    public Names names() {
        return names;
    }

    /**
     * Applies what is missing. False when another process is at it: look again a little later.
     *
     * @throws BackfillUnavailableException when a step could not be applied; it may be tried again
     */
    public boolean migrate() throws SQLException {
        try (Session session = sessions.open(SOCKET_TIMEOUT)) {
            begin(session);
            while (!missing(session).isEmpty()) {
                if (!isAlone(session)) {
                    return false;
                }
                // Whoever held the lock before may have done all of it: what is missing is read again.
                List<Migration> missing = missing(session);
                if (!missing.isEmpty()) {
                    apply(session, missing.get(0));
                }
                session.commit();
                begin(session);
            }
            return true;
        }
    }

    private List<Migration> missing(Session session) throws SQLException {
        return SchemaVersion.read(session, names).requirePlace(names).missing(steps);
    }

    private static void begin(Session session) throws SQLException {
        try (PreparedStatement statement = BEGIN.prepare(session.connection(), Params.none())) {
            statement.execute();
        }
    }

    private boolean isAlone(Session session) throws SQLException {
        try (PreparedStatement statement = TRY_LOCK.prepare(session.connection(), Params.of("schema", names.schema()));
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getBoolean("locked");
        }
    }

    private void apply(Session session, Migration step) throws SQLException {
        // Once: a step that finds no way in is tried again every few seconds.
        LOG.atLevel(announced.add(step.version()) ? Level.INFO : Level.DEBUG)
                .addKeyValue("version", step.version())
                .log("Migrating the tables of Backfill");
        try (Statement statement = session.connection().createStatement()) {
            statement.execute(names.script(step.text()));
        } catch (SQLException e) {
            session.failed(e);
            throw MigrationFailure.of(step, names, LOCK_TIMEOUT, e);
        }
    }
}
