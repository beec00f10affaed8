package dev.backfill.postgres.internal.jdbc;

import java.sql.SQLException;

/** The connection was lost at COMMIT: whether it happened, only the rows know. */
public final class UnknownOutcomeException extends SQLException {

    private static final long serialVersionUID = 1L;

    UnknownOutcomeException(SQLException cause) {
        super("the answer to a COMMIT was lost", cause.getSQLState(), cause);
    }
}
