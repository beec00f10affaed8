package dev.backfill.postgres.internal.jdbc;

import java.sql.SQLException;

/** The database, the role or the session was read-only when the batch began, so that nothing was done (CF-10). */
public final class ReadOnlyException extends SQLException {

    private static final long serialVersionUID = 1L;

    public ReadOnlyException() {
        super("the database accepts no writes", "25006");
    }
}
