package dev.backfill.benchmarks.lab;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;

/**
 * One database of the server.
 *
 * @param url where it is
 * @since 0.1
 */
public record Database(String url) {

    /** A pool of its own. */
    public HikariDataSource pool(int size) {
        return pool(url, size);
    }

    /** A pool behind another URL that leads to the same database. */
    public static HikariDataSource pool(String url, int size) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(url);
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(Math.min(size, 1));
        config.setConnectionTimeout(30_000);
        return new HikariDataSource(config);
    }

    /** A connection that the caller closes. */
    public Connection connect() throws SQLException {
        return DriverManager.getConnection(url);
    }

    /** Runs statements one after the other, each in a transaction of its own. */
    public void execute(String... statements) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        }
    }

    /** The first column of the first row; NULL is zero. */
    public double number(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getDouble(1);
        }
    }

    /** The first column of the first row. */
    public String text(String sql) throws SQLException {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return String.valueOf(row.getString(1));
        }
    }
}
