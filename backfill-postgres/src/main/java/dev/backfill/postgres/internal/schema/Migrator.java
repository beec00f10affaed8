package dev.backfill.postgres.internal.schema;

import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

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

    /** For the library's tables of one schema. */
    public Migrator(Sessions sessions, Names names) {
        this.sessions = sessions;
        this.names = names;
    }

    /** Applies what is missing. False when another process is at it: look again a little later. */
    public boolean migrate() throws SQLException {
        try (Session guard = sessions.open(SOCKET_TIMEOUT)) {
            if (SchemaVersion.read(guard, names).applied() >= Migration.CURRENT) {
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
        int applied = SchemaVersion.read(session, names).applied();
        session.connection().rollback();
        for (Migration migration : Migration.ALL) {
            if (migration.version() > applied) {
                LOG.atInfo().addKeyValue("version", migration.version()).log("Migrating the tables of Backfill");
                if (migration.isTransactional()) {
                    inTransaction(session, migration);
                } else {
                    concurrently(session, migration);
                }
            }
        }
    }

    private void inTransaction(Session session, Migration migration) throws SQLException {
        Connection connection = session.connection();
        try (Statement statement = connection.createStatement()) {
            statement.execute("SELECT pg_catalog.set_config('lock_timeout', '" + LOCK_TIMEOUT.toMillis() + "', true)");
            statement.execute(migration.statements(names).get(0));
        }
        session.commit();
    }

    private void concurrently(Session session, Migration migration) throws SQLException {
        Connection connection = session.connection();
        connection.setAutoCommit(true);
        try (Statement statement = connection.createStatement()) {
            String index = names.qualified(migration.concurrentIndex());
            if (isInvalid(connection, index)) {
                // Left by a build that was killed; nobody else is building, because the lock is ours.
                statement.execute("DROP INDEX CONCURRENTLY " + index);
            }
            for (String sql : migration.statements(names)) {
                statement.execute(sql);
            }
        } finally {
            connection.setAutoCommit(false);
        }
    }

    private static boolean isInvalid(Connection connection, String index) throws SQLException {
        try (PreparedStatement statement = INVALID_INDEX.prepare(connection, Params.of("index", index));
                ResultSet row = statement.executeQuery()) {
            return row.next();
        }
    }
}
