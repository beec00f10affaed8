package dev.backfill;

import org.jspecify.annotations.Nullable;

/**
 * The root of everything this library throws. Messages name the backfill, what was expected, what was found and the next step;
 * they never hold row values, credentials, driver messages or query text (AU-5).
 *
 * @since 0.1
 */
public class BackfillException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** With a message that says what to do. */
    public BackfillException(String message) {
        super(message);
    }

    /** With a message that says what to do, and the cause for the host's own log. */
    public BackfillException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
