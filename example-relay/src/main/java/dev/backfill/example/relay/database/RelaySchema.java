package dev.backfill.example.relay.database;

import dev.backfill.example.relay.backfills.EventCounts;
import dev.backfill.postgres.ContractGuard;
import dev.backfill.postgres.NotCompletedException;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import javax.sql.DataSource;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The relay's own migrations, in the order expand, deploy, backfill, contract. Idempotent; many relays may call it at once.
 * Thread-safe.
 */
public final class RelaySchema {

    private static final Logger LOG = LoggerFactory.getLogger(RelaySchema.class);

    private final DataSource database;
    private final int seedRows;

    /** For a database that gets that many events if it is empty. */
    public RelaySchema(DataSource database, int seedRows) {
        this.database = database;
        this.seedRows = seedRows;
    }

    /** Brings the schema up to date. */
    public void migrate() throws SQLException {
        inTransaction((connection, statement) -> {
            if (!exists(connection, "events")) {
                createHistory(connection, statement);
            }
            statement.execute(script("3-expand.sql"));
        });
        try {
            inTransaction(RelaySchema::contract);
        } catch (NotCompletedException e) {
            // As meant at the first boots: a later one finds the backfill completed.
            LOG.info("The contract step waits. {}", e.getMessage());
        }
    }

    // region contract
    private static void contract(Connection connection, Statement statement) throws SQLException {
        ContractGuard.requireCompleted(connection, EventCounts.ID);
        statement.execute(script("4-contract.sql"));
    }
    // endregion

    private interface Step {
        void take(Connection connection, Statement statement) throws SQLException;
    }

    private void inTransaction(Step step) throws SQLException {
        try (Connection connection = database.getConnection()) {
            connection.setAutoCommit(false);
            try (Statement statement = connection.createStatement()) {
                // One relay migrates, the others wait here and then find nothing left to do. A relay that dies gives
                // the lock back.
                statement.execute("SELECT pg_advisory_xact_lock(7235441)");
                statement.execute("SET LOCAL lock_timeout = '5s'");
                step.take(connection, statement);
                connection.commit();
            } finally {
                connection.rollback();
                connection.setAutoCommit(true);
            }
        }
    }

    private void createHistory(Connection connection, Statement statement) throws SQLException {
        LOG.info("The database is empty: writing {} events of history", seedRows);
        long began = System.nanoTime();
        statement.execute(script("1-tables.sql"));
        new Seed(seedRows).write(connection);
        // Keys after the rows: filling an index row by row takes several times as long as building it.
        statement.execute(script("2-keys.sql"));
        LOG.info("History written in {} ms", (System.nanoTime() - began) / 1_000_000);
    }

    /** Whether the search path finds a table. */
    static boolean exists(Connection connection, String table) throws SQLException {
        try (PreparedStatement lookup = connection.prepareStatement("SELECT to_regclass(?) IS NOT NULL")) {
            lookup.setString(1, table);
            try (ResultSet found = lookup.executeQuery()) {
                return found.next() && found.getBoolean(1);
            }
        }
    }

    static String script(String name) {
        try (InputStream file = RelaySchema.class.getResourceAsStream("/dev/backfill/example/relay/schema/" + name)) {
            if (file == null) {
                throw new IllegalStateException("The script " + name + " is missing from the jar.");
            }
            return new String(file.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new java.io.UncheckedIOException(e);
        }
    }
}
