package dev.backfill.postgres.internal.jdbc;

import java.sql.SQLException;

/** The host's connection source breaks a rule; the message is our own and safe to show. */
public final class UnusableConnectionException extends SQLException {

    private static final long serialVersionUID = 1L;

    UnusableConnectionException(String message) {
        super(message);
    }
}
