package dev.backfill.postgres.internal.supervise;

import dev.backfill.postgres.internal.jdbc.SqlFailure;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A definition's code had more than its time (BB-2). */
public final class OverdueException extends Exception {

    private static final long serialVersionUID = 1L;

    public OverdueException(@Nullable Throwable cause) {
        super("the code of the definition had more than its time", cause);
    }

    /**
     * Refuses what comes back after the server has ended the idle session, or is about to: the driver would tell of a broken network.
     *
     * @param quiet how long the code has sent nothing
     * @param idle how long PostgreSQL bears with that
     */
    public static void throwIfIdle(Duration quiet, Duration idle) throws OverdueException {
        if (quiet.compareTo(idle) >= 0) {
            throw new OverdueException(null);
        }
    }

    /** What was thrown, as the consequence of the code's own time when it is one. */
    public static Exception explain(Exception thrown, Duration quiet, Duration idle) {
        SQLException sql = SqlFailure.in(thrown);
        // The server counts from an earlier moment than the client: by the way of one message.
        boolean ended = quiet.compareTo(idle.multipliedBy(9).dividedBy(10)) >= 0;
        return sql != null && ended && SqlFailure.isOfConnection(sql) ? new OverdueException(thrown) : thrown;
    }
}
