package dev.backfill.operate;

import dev.backfill.BackfillException;

/**
 * The authority lacks the capability. Says nothing else, not even whether the ID exists (AU-4).
 *
 * @since 0.1
 */
public final class AccessDeniedException extends BackfillException {

    private static final long serialVersionUID = 1L;

    /** With a message that names the thing, the rule and what to do. */
    public AccessDeniedException(String message) {
        super(message);
    }
}
