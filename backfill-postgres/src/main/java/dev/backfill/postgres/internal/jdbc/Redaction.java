package dev.backfill.postgres.internal.jdbc;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Makes a thrown error fit for a log (AU-5): types, SQLSTATE and stack traces are code and stay; messages may hold row values,
 * credentials or query text and go. Stateless.
 */
public final class Redaction {

    private static final int DEPTH = 8;

    private Redaction() {}

    /** The same error without a message anywhere in its chain of causes. */
    public static Throwable of(Throwable thrown) {
        return redacted(thrown, DEPTH);
    }

    private static Throwable redacted(Throwable thrown, int depth) {
        Throwable cause = thrown.getCause();
        Redacted copy = new Redacted(name(thrown), cause == null || depth == 0 ? null : redacted(cause, depth - 1));
        copy.setStackTrace(thrown.getStackTrace());
        return copy;
    }

    private static String name(Throwable thrown) {
        String state = thrown instanceof SQLException sql ? sql.getSQLState() : null;
        return thrown.getClass().getName() + (state == null ? "" : " (SQLSTATE " + state + ")");
    }

    private static final class Redacted extends Exception {

        private static final long serialVersionUID = 1L;

        Redacted(String shown, @Nullable Throwable cause) {
            super(shown, cause, false, true);
        }
    }
}
