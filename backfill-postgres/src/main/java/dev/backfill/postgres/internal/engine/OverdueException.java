package dev.backfill.postgres.internal.engine;

/** A definition's code had more than its time (BB-2). */
final class OverdueException extends Exception {

    private static final long serialVersionUID = 1L;

    OverdueException(Throwable cause) {
        super("the code of the definition had more than its time", cause);
    }
}
