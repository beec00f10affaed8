package dev.backfill.postgres.internal.supervise;

import java.sql.SQLException;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;

/**
 * The session that a definition's code works with while it is inside, so that it can be taken away: before PostgreSQL 17 nothing else
 * ends a loop of short statements (BB-2). Thread-safe.
 */
public final class LentSession {

    private @Nullable Runnable end;
    private boolean aborted;

    /** Nothing is lent yet. */
    public LentSession() {}

    /**
     * Lends it to the code until that comes back.
     *
     * @param end ends the session, from any thread
     * @throws SQLException if it was to be taken away before the code was entered
     */
    public <T> T during(Runnable end, Callable<T> code) throws Exception {
        enter(end);
        try {
            return code.call();
        } finally {
            leave();
        }
    }

    private synchronized void enter(Runnable way) throws SQLException {
        if (aborted) {
            throw new SQLException("nobody waits for this code any more", "57014");
        }
        end = way;
    }

    /** From here on the session is its own thread's again, which gives it back. */
    private synchronized void leave() {
        end = null;
    }

    /**
     * Ends the session; code that was not entered never will be.
     *
     * @return whether a thread is inside the code
     */
    public synchronized boolean abort() {
        aborted = true;
        if (end == null) {
            return false;
        }
        end.run();
        return true;
    }
}
