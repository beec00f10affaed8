package dev.backfill.postgres.internal.supervise;

import org.jspecify.annotations.Nullable;

/** A definition's code had more than its time (BB-2). */
public final class OverdueException extends Exception {

    private static final long serialVersionUID = 1L;

    public OverdueException(@Nullable Throwable cause) {
        super("the code of the definition had more than its time", cause);
    }
}
