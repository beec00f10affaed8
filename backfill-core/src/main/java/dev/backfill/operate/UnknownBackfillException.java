package dev.backfill.operate;

import dev.backfill.BackfillException;

/**
 * No row exists for the ID; from a preflight also: this process has no definition of it. Told only to callers that may read (AU-4).
 *
 * @since 0.1
 */
public final class UnknownBackfillException extends BackfillException {

    private static final long serialVersionUID = 1L;

    /** With a message that names the thing, the rule and what to do. */
    public UnknownBackfillException(String message) {
        super(message);
    }
}
