package dev.backfill;

/**
 * Thrown by a definition for a condition that passes by itself: the batch rolls back and is tried again after a bounded backoff
 * (RB-2). The number of tries without progress is bounded.
 *
 * @since 0.1
 */
public class RetryableException extends BackfillException {

    private static final long serialVersionUID = 1L;

    /** With what was wrong, without row values; shown to operators, cut to 1 KiB and cleaned. */
    public RetryableException(String message) {
        super(message);
    }
}
