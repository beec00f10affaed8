package dev.backfill.operate;

import dev.backfill.BackfillException;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * PostgreSQL, the library's tables or the audit could not be used. Nothing was changed or stored, or for
 * {@link Reason#UNAVAILABLE} nothing is known to have been; the same request ID is safe to repeat (AU-3).
 *
 * @since 0.1
 */
public final class BackfillUnavailableException extends BackfillException {

    private static final long serialVersionUID = 1L;

    private final Reason reason;

    /** With the reason, a message that says what to do, and the cause for the host's own log. */
    public BackfillUnavailableException(Reason reason, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.reason = reason;
    }

    /** Why. */
    public Reason reason() {
        return reason;
    }

    /** Why an operation could not be carried out. */
    public enum Reason {
        /** PostgreSQL can't be reached or did not answer in time. */
        UNAVAILABLE,
        /** The row's lock was not had in time, or this process rehearses that code already. */
        BUSY,
        /** The audit record could not be written, so the change did not happen. */
        AUDIT_UNAVAILABLE,
        /** The library's tables are not there. */
        SCHEMA_MISSING,
        /** The library's tables are of a version this library can't run on (SC-5). */
        SCHEMA_INCOMPATIBLE,
        /** The database role lacks a privilege on the library's tables. */
        PRIVILEGE_MISSING;

        /** The name in the HTTP API, for instance {@code audit_unavailable}. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
