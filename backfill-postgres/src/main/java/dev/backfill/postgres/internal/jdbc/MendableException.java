package dev.backfill.postgres.internal.jdbc;

import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A failure with a known cause that can be taken away in a transaction of its own, after which the same work succeeds. */
public abstract class MendableException extends SQLException {

    private static final long serialVersionUID = 1L;
    private static final int DEEPEST = 20;

    /** With the SQLSTATE of what failed. */
    protected MendableException(String reason, SQLException cause) {
        super(reason, cause.getSQLState(), cause);
    }

    /** Takes the cause away, in the session's transaction. */
    protected abstract void mend(Session session) throws SQLException;

    /** The first one in a chain of causes, if there is one. */
    static @Nullable MendableException in(Throwable thrown) {
        int depth = 0;
        for (Throwable t = thrown; t != null && depth < DEEPEST; t = t.getCause(), depth++) {
            if (t instanceof MendableException mendable) {
                return mendable;
            }
        }
        return null;
    }
}
