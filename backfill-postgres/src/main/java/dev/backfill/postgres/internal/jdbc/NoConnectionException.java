package dev.backfill.postgres.internal.jdbc;

import java.sql.SQLException;

/** No connection could be had: nobody's statement failed, whatever the SQLSTATE says that the host's source gave. */
public final class NoConnectionException extends SQLException {

    private static final long serialVersionUID = 1L;

    NoConnectionException(Throwable cause) {
        super("no connection could be had", cause instanceof SQLException sql ? sql.getSQLState() : null, cause);
    }
}
