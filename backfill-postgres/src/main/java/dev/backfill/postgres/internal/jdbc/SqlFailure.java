package dev.backfill.postgres.internal.jdbc;

import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import org.jspecify.annotations.Nullable;

/**
 * What a SQLSTATE means for the failure policy: the only place where one is read. No message is ever matched.
 *
 * @see <a href="https://www.postgresql.org/docs/current/errcodes-appendix.html">PostgreSQL error codes</a>
 */
public enum SqlFailure {
    /** Somebody else was in the way, or the batch took too long: passes by itself. */
    CONTENTION,
    /** The connection or the server went away: passes by itself; the connection is aborted. */
    INFRASTRUCTURE,
    /** A plan cached before a schema change: once more on a fresh connection. */
    STALE_PLAN,
    /** A table, column or privilege is missing: needs an operator. */
    SCHEMA,
    /** The data of some row: narrowed to the smallest range. */
    DATA,
    /** The definition's SQL or code. */
    DEFINITION;

    /** Reads the SQLSTATE of an exception. */
    public static SqlFailure of(SQLException e) {
        String state = e.getSQLState();
        // Without a state the driver gave up by itself: nothing is known of the server.
        if (state == null || state.length() != 5) {
            return INFRASTRUCTURE;
        }
        // A driver that lacks a method says the same state as a server whose plan is stale.
        return "0A000".equals(state) && e instanceof SQLFeatureNotSupportedException ? DEFINITION : ofState(state);
    }

    private static SqlFailure ofState(String state) {
        return switch (state) {
            case "40001", "40P01", "55P03", "57014" -> CONTENTION;
            case "25P03", "25P04", "25006" -> INFRASTRUCTURE;
            case "42P01", "42703", "42501", "3F000" -> SCHEMA;
            case "0A000" -> STALE_PLAN;
            default -> ofClass(state.substring(0, 2), state);
        };
    }

    private static SqlFailure ofClass(String stateClass, String state) {
        return switch (stateClass) {
            case "08", "53" -> INFRASTRUCTURE;
            case "57" -> state.startsWith("57P") ? INFRASTRUCTURE : DEFINITION;
            // 54: a value is too large for an index or a row.
            case "22", "23", "54" -> DATA;
            default -> DEFINITION;
        };
    }

    /** The first SQLException in a chain of causes, if there is one. */
    public static @Nullable SQLException in(@Nullable Throwable thrown) {
        int depth = 0;
        for (Throwable t = thrown; t != null && depth < 20; t = t.getCause(), depth++) {
            if (t instanceof SQLException sql) {
                return sql;
            }
        }
        return null;
    }

    /** Whether it says that a unique value is there already. */
    public static boolean isDuplicate(SQLException e) {
        return "23505".equals(e.getSQLState());
    }

    /** Whether it says that something took too long, so that a smaller window may help. */
    public static boolean isTooSlow(SQLException e) {
        String state = e.getSQLState();
        // Statement, idle-in-transaction and transaction timeout.
        return "57014".equals(state) || "25P03".equals(state) || "25P04".equals(state);
    }

    /** Whether it says that PostgreSQL refused a COMMIT or ROLLBACK inside a DO block, function or procedure. */
    public static boolean isTransactionControl(SQLException e) {
        return "2D000".equals(e.getSQLState());
    }

    /** Whether it says that something wrote in a read-only transaction. */
    public static boolean isWriteInReadOnly(SQLException e) {
        return "25006".equals(e.getSQLState());
    }

    /** Whether the connection can't be trusted any more. */
    public boolean spoilsConnection() {
        return this == INFRASTRUCTURE || this == STALE_PLAN;
    }
}
