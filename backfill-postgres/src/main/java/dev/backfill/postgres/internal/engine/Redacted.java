package dev.backfill.postgres.internal.engine;

import java.sql.SQLException;

/**
 * A stand-in for an exception in the log: its class, SQLSTATE and stack trace, without any message, because messages of a driver or
 * of a definition may hold row values or credentials (AU-5).
 */
public final class Redacted extends Exception {

    private static final long serialVersionUID = 1L;
    private static final int DEEPEST = 8;

    private Redacted(Throwable original, int depth) {
        super(describe(original), cause(original, depth), false, true);
        setStackTrace(original.getStackTrace());
    }

    /** The stand-in of an exception and its causes. */
    public static Redacted of(Throwable original) {
        return new Redacted(original, 0);
    }

    private static String describe(Throwable original) {
        String name = original.getClass().getName();
        return original instanceof SQLException sql ? name + ", SQLSTATE " + sql.getSQLState() : name;
    }

    private static @org.jspecify.annotations.Nullable Throwable cause(Throwable original, int depth) {
        Throwable cause = original.getCause();
        return cause == null || depth == DEEPEST ? null : new Redacted(cause, depth + 1);
    }
}
