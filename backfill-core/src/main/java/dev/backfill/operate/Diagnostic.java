package dev.backfill.operate;

import dev.backfill.internal.BoundedText;
import java.time.Instant;
import org.jspecify.annotations.Nullable;

/**
 * A bounded, redacted explanation (AU-5): our own vocabulary, SQLSTATE, constraint, table and column names, or an author's own
 * words; never row values, driver messages or query text.
 *
 * @param code one of {@link DiagnosticCode}, as stored; a newer library may have written one this library does not know
 * @param message at most 1 KiB, cleaned
 * @param sqlState five characters, or null
 * @param at when, by PostgreSQL's clock; null where it was not stored
 * @since 0.1
 */
public record Diagnostic(
        String code,
        String message,
        @Nullable String sqlState,
        @Nullable Instant at) {

    /** The most characters of a message. */
    public static final int MAX_MESSAGE = 1_000;

    /** Bounds and cleans the message. */
    public Diagnostic {
        message = BoundedText.clean(message, MAX_MESSAGE);
        if (sqlState != null && !sqlState.matches("[0-9A-Z]{5}")) {
            sqlState = null;
        }
    }

    /** A diagnostic that has not been stored yet. */
    public static Diagnostic of(DiagnosticCode code, String message, @Nullable String sqlState) {
        return new Diagnostic(code.wireName(), message, sqlState, null);
    }
}
