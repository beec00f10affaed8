package dev.backfill.postgres.internal.jdbc;

/** The Java function of a row repair failed for some row: narrowed like any other data error. */
public final class RowFunctionException extends Exception {

    private static final long serialVersionUID = 1L;

    public RowFunctionException(String column, RuntimeException cause) {
        super("The function for column " + column + " failed", cause);
    }
}
