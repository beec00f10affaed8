package dev.backfill.benchmarks.rivals;

import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Items;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;

/** One UPDATE over everything: no progress, no pause, every row locked until the end. */
final class SingleUpdate implements Rival {

    @Override
    public String name() {
        return "single UPDATE";
    }

    @Override
    public String key() {
        return "update";
    }

    @Override
    public boolean batched() {
        return false;
    }

    @Override
    public Ready prepare(Database database, int batchSize) throws SQLException {
        Connection connection = database.connect();
        return new Ready() {
            @Override
            public void run() throws SQLException {
                try (Statement statement = connection.createStatement()) {
                    statement.execute("update items set name_upper = " + Items.EXPRESSION + " where " + Items.NEEDED);
                }
            }

            @Override
            public void close() throws SQLException {
                connection.close();
            }
        };
    }
}
