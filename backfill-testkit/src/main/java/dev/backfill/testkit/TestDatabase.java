package dev.backfill.testkit;

import dev.backfill.spi.ConnectionSource;
import dev.backfill.testkit.server.PostgresServer;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.ResultSetMetaData;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.postgresql.ds.PGSimpleDataSource;

/**
 * A database of one test class. Its helpers each use a connection of their own in auto-commit mode and throw
 * {@link IllegalStateException} with the SQL in the message, because a test wants to see it. Thread-safe.
 *
 * @since 0.1
 */
public final class TestDatabase implements ConnectionSource, AutoCloseable {

    private final PostgresServer server;
    private final String name;
    private final PGSimpleDataSource dataSource;

    private TestDatabase(PostgresServer server, String name) {
        this.server = server;
        this.name = name;
        this.dataSource = dataSourceOf(server.urlOf(name));
    }

    /** Creates a new, empty database on a server; close drops it. Test classes get theirs from {@link PostgresTest}. */
    public static TestDatabase create(PostgresServer server) {
        String name =
                "backfill_test_" + UUID.randomUUID().toString().replace("-", "").substring(0, 16);
        // From template0, which nobody can be connected to: template1 refuses a copy while anybody is.
        admin(server, "create database \"" + name + "\" template template0");
        return new TestDatabase(server, name);
    }

    /** The name of the database. */
    public String name() {
        return name;
    }

    /** The JDBC URL, user and password included. */
    public String jdbcUrl() {
        return server.urlOf(name);
    }

    /** The JDBC URL of the server itself where {@link #jdbcUrl} leads through a pooler; else the same. */
    public String directUrl() {
        return server.direct().urlOf(name);
    }

    /** A source of plain connections, without a pool. */
    public DataSource dataSource() {
        return dataSource;
    }

    /** A new connection in auto-commit mode, which the caller closes. */
    @Override
    public Connection get() throws SQLException {
        return dataSource.getConnection();
    }

    /** The same, for tests that don't want to declare the exception. */
    public Connection connection() {
        try {
            return get();
        } catch (SQLException e) {
            throw new IllegalStateException(
                    "No connection to the test database " + name + " (" + server.origin() + ").", e);
        }
    }

    /** Runs any SQL, several statements included; parameters are {@code ?} as JDBC has them. */
    public void execute(String sql, @Nullable Object... parameters) {
        with(sql, parameters, statement -> {
            statement.execute();
            return null;
        });
    }

    /** Runs one INSERT, UPDATE or DELETE and returns the rows it changed. */
    public long update(String sql, @Nullable Object... parameters) {
        Long changed = with(sql, parameters, PreparedStatement::executeLargeUpdate);
        return changed == null ? 0 : changed;
    }

    /** The first column of the only row, as a number. */
    public long queryLong(String sql, @Nullable Object... parameters) {
        String text = queryText(sql, parameters);
        if (text == null) {
            throw new IllegalStateException("Expected a number, got NULL, from: " + sql);
        }
        return Long.parseLong(text);
    }

    /** Whether the first column of the only row is true. */
    public boolean queryBoolean(String sql, @Nullable Object... parameters) {
        return "t".equals(queryText(sql, parameters));
    }

    /** The first column of the only row, as PostgreSQL writes it; null for NULL. */
    public @Nullable String queryText(String sql, @Nullable Object... parameters) {
        List<Map<String, @Nullable String>> rows = queryRows(sql, parameters);
        if (rows.size() != 1) {
            throw new IllegalStateException("Expected one row, got " + rows.size() + ", from: " + sql);
        }
        return rows.get(0).values().iterator().next();
    }

    /** The first column of every row, as PostgreSQL writes it; NULL becomes the text {@code null}. */
    public List<String> queryTexts(String sql, @Nullable Object... parameters) {
        List<String> texts = new ArrayList<>();
        for (Map<String, @Nullable String> row : queryRows(sql, parameters)) {
            texts.add(String.valueOf(row.values().iterator().next()));
        }
        return texts;
    }

    /** Every row, column names in order, values as PostgreSQL writes them. */
    public List<Map<String, @Nullable String>> queryRows(String sql, @Nullable Object... parameters) {
        List<Map<String, @Nullable String>> rows = with(sql, parameters, statement -> {
            try (ResultSet result = statement.executeQuery()) {
                return rows(result);
            }
        });
        return rows == null ? List.of() : rows;
    }

    private static List<Map<String, @Nullable String>> rows(ResultSet result) throws SQLException {
        ResultSetMetaData columns = result.getMetaData();
        List<Map<String, @Nullable String>> rows = new ArrayList<>();
        while (result.next()) {
            Map<String, @Nullable String> row = new LinkedHashMap<>();
            for (int i = 1; i <= columns.getColumnCount(); i++) {
                row.put(columns.getColumnLabel(i), result.getString(i));
            }
            rows.add(row);
        }
        return rows;
    }

    /** Drops everything in the schema {@code public}, the library's own tables included. */
    public void clear() {
        execute("drop schema if exists public cascade");
        execute("create schema public");
    }

    /** The server's major version. */
    public int majorVersion() {
        return (int) queryLong("select current_setting('server_version_num')::int / 10000");
    }

    /** Ends every other session of this database, as an administrator or a failover would. */
    public void killSessions() {
        queryTexts("select pg_terminate_backend(pid) from pg_stat_activity"
                + " where datname = current_database() and pid <> pg_backend_pid()");
    }

    /** Drops the database, whoever is still connected. */
    @Override
    public void close() {
        admin(server, "drop database if exists \"" + name + "\" with (force)");
    }

    @Override
    public String toString() {
        return "test database " + name + " (" + server.origin() + ")";
    }

    private interface Work<T> {
        @Nullable
        T with(PreparedStatement statement) throws SQLException;
    }

    private <T> @Nullable T with(String sql, @Nullable Object[] parameters, Work<T> work) {
        try (Connection connection = get();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < parameters.length; i++) {
                statement.setObject(i + 1, parameters[i]);
            }
            return work.with(statement);
        } catch (SQLException e) {
            throw new IllegalStateException(e.getMessage() + "\nSQL: " + sql, e);
        }
    }

    private static void admin(PostgresServer server, String sql) {
        try (Connection connection = dataSourceOf(server.direct().urlOf(server.adminDatabase()))
                        .getConnection();
                PreparedStatement statement = connection.prepareStatement(sql)) {
            statement.execute();
        } catch (SQLException e) {
            throw new IllegalStateException(
                    "Could not create or drop a test database on the server " + server.origin()
                            + ". Its user must be allowed to create databases.",
                    e);
        }
    }

    private static PGSimpleDataSource dataSourceOf(String url) {
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(url);
        return source;
    }
}
