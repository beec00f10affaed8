package dev.backfill.postgres.internal.jdbc;

import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

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
    /** Likely the data of some row; only narrowing finds out. */
    DATA,
    /** Likely the definition's SQL or code; only narrowing finds out. */
    DEFINITION;

    // Who refuses new transaction IDs: the server itself, before its IDs wrap around.
    private static final String WRAPAROUND_GUARD = "GetNewTransactionId";

    /** Reads the SQLSTATE of an exception. */
    public static SqlFailure of(SQLException e) {
        String state = e.getSQLState();
        // Without a state the driver gave up by itself: nothing is known of the server. Before a connection existed, no
        // statement can have been at fault.
        if (state == null || state.length() != 5 || e instanceof NoConnectionException || isWraparoundStop(e)) {
            return INFRASTRUCTURE;
        }
        // A driver that lacks a method says the same state as a server whose plan is stale.
        return "0A000".equals(state) && e instanceof SQLFeatureNotSupportedException ? DEFINITION : ofState(state);
    }

    private static SqlFailure ofState(String state) {
        return switch (state) {
            case "40001", "40P01", "55P03", "57014" -> CONTENTION;
            case "25P03", "25P04", "25006" -> INFRASTRUCTURE;
            // A prepared statement that is gone or there already, and a snapshot that is too old.
            case "26000", "42P05", "72000" -> INFRASTRUCTURE;
            case "42P01", "42703", "42501", "3F000" -> SCHEMA;
            case "0A000" -> STALE_PLAN;
            default -> ofClass(state.substring(0, 2), state);
        };
    }

    private static SqlFailure ofClass(String stateClass, String state) {
        return switch (stateClass) {
            case "08", "53", "58" -> INFRASTRUCTURE;
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

    private static boolean isWraparoundStop(SQLException e) {
        ServerErrorMessage server = e instanceof PSQLException driver ? driver.getServerErrorMessage() : null;
        return "54000".equals(e.getSQLState()) && server != null && WRAPAROUND_GUARD.equals(server.getRoutine());
    }

    /** Whether a pooler is likely to have handed out another session, without the statement that was prepared in the first. */
    public static boolean isOfPooler(SQLException e) {
        return "26000".equals(e.getSQLState()) || "42P05".equals(e.getSQLState());
    }

    /** Whether it says that a statement was cancelled, by its time limit or by somebody. */
    public static boolean isCancelled(SQLException e) {
        return "57014".equals(e.getSQLState());
    }

    /** Whether PostgreSQL refuses the statement as it is written: its names, its types, its privileges. */
    public static boolean isOfStatement(SQLException e) {
        return e.getSQLState() != null && e.getSQLState().startsWith("42");
    }

    /** Whether it says that the connection is gone, or that the driver does not know. */
    public static boolean isOfConnection(SQLException e) {
        String state = e.getSQLState();
        return state == null || state.startsWith("08") || "25P03".equals(state) || "25P04".equals(state);
    }

    /** Whether PostgreSQL ended the session because its transaction took too long. */
    public static boolean isTransactionTimeout(SQLException e) {
        return "25P04".equals(e.getSQLState());
    }

    /** Whether less in one transaction may need less of what ran out: memory, or room for temporary files. */
    public static boolean isOfSize(SQLException e) {
        return "53200".equals(e.getSQLState()) || "53400".equals(e.getSQLState());
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

    /** Whether a row may be at the bottom of it: anything but what others, the connection or the server did. */
    public boolean mayBeOfRows() {
        return this == DATA || this == DEFINITION || this == SCHEMA;
    }

    /** Whether the connection can't be trusted any more. */
    public boolean spoilsConnection() {
        return this == INFRASTRUCTURE || this == STALE_PLAN;
    }
}
