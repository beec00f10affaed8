package dev.backfill.postgres;

import dev.backfill.BackfillException;

/**
 * A contract migration was asked for before its backfills had completed, or where that can't be told. Nothing was changed (SC-4).
 *
 * @since 0.1
 */
public final class NotCompletedException extends BackfillException {

    private static final long serialVersionUID = 1L;

    NotCompletedException(String message) {
        super(message, null);
    }
}
