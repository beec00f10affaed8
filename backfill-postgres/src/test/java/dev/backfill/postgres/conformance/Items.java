package dev.backfill.postgres.conformance;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Batch;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.testkit.conformance.DefinitionConformance;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/** A small table whose {@code digest} an old writer left empty, and a custom repair that does everything right. */
abstract class Items extends DefinitionConformance<Long> {

    static final Validation PROOF = Validation.noRowMatches("digest IS NULL");

    @Override
    protected void seed(Connection database) throws SQLException {
        try (Statement statement = database.createStatement()) {
            statement.execute("CREATE TABLE items (id bigint PRIMARY KEY, content text NOT NULL, digest text)");
            statement.execute("CREATE TABLE notes (id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, note text)");
            statement.execute("INSERT INTO items SELECT g * 10, 'item ' || g, CASE WHEN g = 4 THEN 'ITEM 4' END"
                    + " FROM generate_series(1, 12) g");
        }
    }

    static BackfillDefinition.Builder<Long> items() {
        return Backfill.define("items.digest.v1")
                .over("items", Keys.bigint("id"))
                .batchSize(5);
    }

    static BackfillDefinition<Long> repairedBy(Repair.Custom<Long> repair) {
        return items().repair(repair).validate(PROOF).build();
    }

    static BackfillDefinition<Long> provenBy(Validation.Custom<Long> proof) {
        return items().repair((batch, tx) -> lockComputeWrite(batch, tx.connection()))
                .validate(proof)
                .build();
    }

    /** Locks in key order, computes in Java, writes what differs. */
    static long lockComputeWrite(Batch<Long> batch, Connection connection) throws SQLException {
        return write(connection, read(batch, connection, " FOR NO KEY UPDATE"));
    }

    static Map<Long, String> read(Batch<Long> batch, Connection connection, String locking) throws SQLException {
        Map<Long, String> digests = new LinkedHashMap<>();
        try (PreparedStatement select = connection.prepareStatement(
                "SELECT id, content FROM items WHERE id = ANY (?) AND digest IS NULL ORDER BY id" + locking)) {
            select.setArray(1, ids(batch.keys(), connection));
            try (ResultSet rows = select.executeQuery()) {
                while (rows.next()) {
                    digests.put(rows.getLong(1), rows.getString(2).toUpperCase(Locale.ROOT));
                }
            }
        }
        return digests;
    }

    static long write(Connection connection, Map<Long, String> digests) throws SQLException {
        long changed = 0;
        try (PreparedStatement update = connection.prepareStatement("UPDATE items SET digest = ? WHERE id = ?")) {
            for (Map.Entry<Long, String> digest : digests.entrySet()) {
                update.setString(1, digest.getValue());
                update.setLong(2, digest.getKey());
                changed += update.executeUpdate();
            }
        }
        return changed;
    }

    static long update(Connection connection, String sql, List<Long> keys) throws SQLException {
        try (PreparedStatement update = connection.prepareStatement(sql)) {
            update.setArray(1, ids(keys, connection));
            return update.executeUpdate();
        }
    }

    private static java.sql.Array ids(List<Long> keys, Connection connection) throws SQLException {
        return connection.createArrayOf("bigint", keys.toArray());
    }
}
