package dev.backfill.postgres.internal.jdbc;

import dev.backfill.BlockedException;
import dev.backfill.InvalidDefinitionException;
import dev.backfill.RetryableException;
import dev.backfill.internal.BoundedText;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.DiagnosticCode;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;
import org.postgresql.util.ServerErrorMessage;

/**
 * Makes diagnostics that can't leak (AU-5): from SQLSTATE, our own vocabulary and the names of constraints, tables and columns;
 * never from a message, detail, hint or query, which may hold row values. Authors' own words are the one exception, and are theirs.
 */
public final class Diagnostics {

    private static final int MAX_NAME = 128;
    private static final String LIBRARY = "dev.backfill.postgres.internal.";

    private Diagnostics() {}

    /** Describes what was thrown, under a code. */
    public static Diagnostic of(DiagnosticCode code, Throwable thrown) {
        if (thrown instanceof BlockedException || thrown instanceof RetryableException) {
            return Diagnostic.of(code, thrown.getMessage() == null ? code.meaning() : thrown.getMessage(), null);
        }
        if (isOurWord(thrown)) {
            return Diagnostic.of(code, code.meaning() + " " + thrown.getMessage() + caller(thrown), null);
        }
        SQLException sql = SqlFailure.in(thrown);
        if (sql != null) {
            return Diagnostic.of(code, code.meaning() + describe(sql), sql.getSQLState());
        }
        Throwable root =
                thrown instanceof RowFunctionException && thrown.getCause() != null ? thrown.getCause() : thrown;
        String context = thrown instanceof RowFunctionException ? thrown.getMessage() + ": " : "";
        return Diagnostic.of(
                code, code.meaning() + " " + context + root.getClass().getName() + at(root) + ".", null);
    }

    /** What this library itself says to an author about the definition: names and rules, never values. */
    private static boolean isOurWord(Throwable thrown) {
        StackTraceElement[] frames = thrown.getStackTrace();
        return thrown instanceof InvalidDefinitionException
                && thrown.getMessage() != null
                && frames.length > 0
                && frames[0].getClassName().startsWith(LIBRARY);
    }

    private static String describe(SQLException e) {
        List<String> parts = new ArrayList<>();
        if (e instanceof NoConnectionException) {
            parts.add("no connection could be had");
        }
        add(parts, "SQLSTATE", e.getSQLState());
        if (e instanceof PSQLException driver && driver.getServerErrorMessage() != null) {
            ServerErrorMessage server = driver.getServerErrorMessage();
            add(parts, "constraint", server.getConstraint());
            add(parts, "table", server.getTable());
            add(parts, "column", server.getColumn());
            add(parts, "type", server.getDatatype());
        }
        String pooler = SqlFailure.isOfPooler(e)
                ? " A pooler in between hands out another session for each transaction, without its prepared statements:"
                        + " set preparedStatements(false), or prepareThreshold=0 in the connection source."
                : "";
        return parts.isEmpty() ? "" : " " + String.join(", ", parts) + "." + pooler;
    }

    private static void add(List<String> parts, String what, @Nullable String name) {
        if (name != null) {
            parts.add(what + " " + BoundedText.clean(name, MAX_NAME));
        }
    }

    /** The first frame outside this library: where the author's code called it. */
    private static String caller(Throwable thrown) {
        return Arrays.stream(thrown.getStackTrace())
                .filter(frame -> !frame.getClassName().startsWith(LIBRARY))
                .findFirst()
                .map(frame -> " Called" + at(frame) + ".")
                .orElse("");
    }

    /** The frame that threw: class, method and line are the author's code, never data. */
    private static String at(Throwable thrown) {
        StackTraceElement[] frames = thrown.getStackTrace();
        return frames.length == 0 ? "" : at(frames[0]);
    }

    private static String at(StackTraceElement frame) {
        return " at " + frame.getClassName() + "." + frame.getMethodName() + ":" + frame.getLineNumber();
    }
}
