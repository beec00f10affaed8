package dev.backfill.postgres.internal.batch;

import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.supervise.OverdueException;
import java.sql.SQLException;
import java.time.Duration;

/** Tells a session that PostgreSQL ended because own code let it idle from a broken network (BB-2). Stateless. */
final class IdleTime {

    private IdleTime() {}

    /**
     * Refuses what comes back after the server has ended the idle session, or is about to.
     *
     * @param quiet how long the code has sent nothing
     * @param most how long PostgreSQL bears with that
     */
    static void throwIfOver(Duration quiet, Duration most) throws OverdueException {
        if (quiet.compareTo(most) >= 0) {
            throw new OverdueException(null);
        }
    }

    /** What was thrown, as the consequence of the code's own time when it is one. */
    static Exception explain(Exception thrown, Duration quiet, Duration most) {
        SQLException sql = SqlFailure.in(thrown);
        // The server counts from an earlier moment than the client: by the way of one message.
        boolean ended = quiet.compareTo(most.multipliedBy(9).dividedBy(10)) >= 0;
        return sql != null && ended && SqlFailure.isOfConnection(sql) ? new OverdueException(thrown) : thrown;
    }
}
