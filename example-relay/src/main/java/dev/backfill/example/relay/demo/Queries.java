package dev.backfill.example.relay.demo;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.Optional;

/** The demo's own view of the database: one plain connection, none of the library's code. Confined to one thread. */
final class Queries implements AutoCloseable {

    private final Connection connection;

    Queries(String jdbcUrl) throws SQLException {
        this.connection = DriverManager.getConnection(jdbcUrl);
    }

    void execute(String script) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute(script);
        }
    }

    long number(String sql, Object... parameters) throws SQLException {
        return text(sql, parameters).map(Long::parseLong).orElse(0L);
    }

    boolean isTrue(String sql, Object... parameters) throws SQLException {
        return text(sql, parameters).filter("t"::equals).isPresent();
    }

    /** The first column of the first row; empty without a row and for NULL. */
    Optional<String> text(String sql, Object... parameters) throws SQLException {
        try (PreparedStatement query = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                query.setObject(i + 1, parameters[i]);
            }
            try (ResultSet rows = query.executeQuery()) {
                return rows.next() ? Optional.ofNullable(rows.getString(1)) : Optional.empty();
            }
        }
    }

    @Override
    public void close() throws SQLException {
        connection.close();
    }
}
