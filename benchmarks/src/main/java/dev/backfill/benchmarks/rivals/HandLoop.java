package dev.backfill.benchmarks.rivals;

import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Items;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * What one writes by hand: a prepared range UPDATE and a checkpoint row, one transaction for each batch. The bare form takes ranges
 * of numbers, because these IDs have no gaps; the keyset form asks for the end of each window first, as IDs with gaps need it.
 * Neither claims, fences, pauses, retries nor reports.
 */
final class HandLoop implements Rival {

    private final boolean keyset;

    HandLoop(boolean keyset) {
        this.keyset = keyset;
    }

    @Override
    public String name() {
        return keyset ? "hand-written loop, keyset" : "hand-written loop, ranges";
    }

    @Override
    public String key() {
        return keyset ? "keyset" : "hand";
    }

    @Override
    public Ready prepare(Database database, int batchSize) throws SQLException {
        database.execute(
                "create table checkpoint (id text primary key, last bigint not null)",
                "insert into checkpoint values ('items', 0)");
        Connection connection = database.connect();
        connection.setAutoCommit(false);
        return new Loop(connection, keyset, batchSize);
    }

    private record Loop(Connection connection, boolean keyset, int batchSize) implements Ready {

        @Override
        public void run() throws SQLException {
            try (PreparedStatement bound = connection.prepareStatement("select max(id) from items");
                    PreparedStatement edge = connection.prepareStatement(
                            "select max(id) from (select id from items where id > ? order by id limit ?) page");
                    PreparedStatement repair = connection.prepareStatement("update items set name_upper = "
                            + Items.EXPRESSION + " where id > ? and id <= ? and " + Items.NEEDED);
                    PreparedStatement checkpoint =
                            connection.prepareStatement("update checkpoint set last = ? where id = 'items'")) {
                long end = one(bound);
                connection.commit();
                long last = 0;
                while (last < end) {
                    long next = keyset ? edge(edge, last) : Math.min(last + batchSize, end);
                    repair.setLong(1, last);
                    repair.setLong(2, next);
                    repair.executeUpdate();
                    checkpoint.setLong(1, next);
                    checkpoint.executeUpdate();
                    connection.commit();
                    last = next;
                }
            }
        }

        private long edge(PreparedStatement edge, long last) throws SQLException {
            edge.setLong(1, last);
            edge.setInt(2, batchSize);
            return one(edge);
        }

        private static long one(PreparedStatement statement) throws SQLException {
            try (ResultSet row = statement.executeQuery()) {
                row.next();
                return row.getLong(1);
            }
        }

        @Override
        public void close() throws SQLException {
            connection.close();
        }
    }
}
