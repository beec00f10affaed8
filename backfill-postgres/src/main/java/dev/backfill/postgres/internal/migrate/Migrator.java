package dev.backfill.postgres.internal.migrate;

import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.migrate.Migration.ConcurrentIndex;
import java.sql.Connection;
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
 * Applies missing migrations, one process at a time (SC-3). The lock is an advisory one of an open transaction that does nothing
 * else: a crash frees it, a transaction-pooling proxy keeps it, and a concurrent index build does not wait for it, because an idle
 * transaction without a snapshot is in nobody's way. Thread-safe.
 */
public final class Migrator {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");
    private static final Duration LOCK_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration SOCKET_TIMEOUT = Duration.ofMinutes(10);

    private static final Sql TRY_LOCK = Sql.of("""
            /* backfill:migrate */ SELECT
              pg_catalog.pg_try_advisory_xact_lock(1113678699, pg_catalog.hashtext(:schema)) AS locked""");

    private static final String DROP_SNAPSHOT =
            "/* backfill:migrate */ SET LOCAL idle_in_transaction_session_timeout = '600s'";

    private static final Sql INVALID_INDEX = Sql.of("""
            /* backfill:migrate */ SELECT 1 FROM pg_catalog.pg_index AS i
            WHERE i.indexrelid = pg_catalog.to_regclass(:index)::oid AND NOT i.indisvalid""");

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
        try (Session guard = sessions.open(SOCKET_TIMEOUT)) {
            if (SchemaVersion.read(guard, names)
                    .requirePlace(names)
                    .missing(steps)
                    .isEmpty()) {
                return true;
            }
            guard.connection().rollback();
            try (PreparedStatement statement =
                            TRY_LOCK.prepare(guard.connection(), Params.of("schema", names.schema()));
                    ResultSet row = statement.executeQuery()) {
                row.next();
                if (!row.getBoolean("locked")) {
                    return false;
                }
            }
            // The driver leaves the portal of its last query open, and with it that query's snapshot, for which CREATE
            // INDEX
            // CONCURRENTLY waits without end. A command that needs no snapshot takes the portal's place.
            try (Statement statement = guard.connection().createStatement()) {
                statement.execute(DROP_SNAPSHOT);
            }
            try (Session session = sessions.open(SOCKET_TIMEOUT)) {
                apply(session);
            }
            return true;
        }
    }

    private void apply(Session session) throws SQLException {
        // Read after the lock was had: whoever held it before may have done all of this.
        List<Migration> missing = SchemaVersion.read(session, names).missing(steps);
        session.connection().rollback();
        for (Migration step : missing) {
            // Once: a step that finds no way in is tried again every few seconds.
            LOG.atLevel(announced.add(step.version()) ? Level.INFO : Level.DEBUG)
                    .addKeyValue("version", step.version())
                    .log("Migrating the tables of Backfill");
            try {
                ConcurrentIndex index = step.concurrentIndex();
                if (index == null) {
                    inTransaction(session, step);
                } else {
                    concurrently(session, step, index);
                }
            } catch (SQLException e) {
                session.failed(e);
                throw MigrationFailure.of(step, names, LOCK_TIMEOUT, e);
            }
        }
    }

    private void inTransaction(Session session, Migration step) throws SQLException {
        try (Statement statement = session.connection().createStatement()) {
            boundLocks(statement);
            statement.execute(step.statements(names).get(0));
        }
        session.commit();
    }

    private static void boundLocks(Statement statement) throws SQLException {
        statement.execute("/* backfill:migrate */ SET LOCAL lock_timeout = " + LOCK_TIMEOUT.toMillis());
    }

    private void concurrently(Session session, Migration step, ConcurrentIndex index) throws SQLException {
        Connection connection = session.connection();
        awaitTable(session, index);
        connection.setAutoCommit(true);
        try (Statement statement = connection.createStatement()) {
            String name = names.qualified(index.name());
            if (isInvalid(connection, name)) {
                // Left by a build that was killed; nobody else is building, because the lock is ours.
                statement.execute("DROP INDEX CONCURRENTLY " + name);
            }
            for (String sql : step.statements(names)) {
                statement.execute(sql);
            }
        } finally {
            if (!connection.isClosed()) {
                connection.setAutoCommit(false);
            }
        }
    }

    /**
     * A build that timed out on a lock would leave an invalid index behind, and outside a transaction its timeout would have to be
     * set for the session, which a pool hands on. So its lock is asked for first, where a timeout leaves nothing. What the build
     * itself then waits for is old transactions, and while it does it is in nobody's way.
     */
    private void awaitTable(Session session, ConcurrentIndex index) throws SQLException {
        try (Statement statement = session.connection().createStatement()) {
            boundLocks(statement);
            statement.execute("/* backfill:migrate */ LOCK TABLE " + names.qualified(index.table())
                    + " IN SHARE UPDATE EXCLUSIVE MODE");
        }
        session.commit();
    }

    private static boolean isInvalid(Connection connection, String index) throws SQLException {
        try (PreparedStatement statement = INVALID_INDEX.prepare(connection, Params.of("index", index));
                ResultSet row = statement.executeQuery()) {
            return row.next();
        }
    }
}
