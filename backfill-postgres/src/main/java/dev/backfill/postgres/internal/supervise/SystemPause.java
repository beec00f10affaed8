package dev.backfill.postgres.internal.supervise;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Waits until time is over, there is news, or the engine closes. Thread-safe. */
public final class SystemPause implements Pause {

    private boolean closed;
    private long news;

    @Override
    public boolean forAtLeast(Duration wait) {
        return await(wait, Long.MAX_VALUE);
    }

    /** A number to hand to {@link #forNews}, taken before one looks for work. */
    public synchronized long news() {
        return news;
    }

    /** Waits, but no longer than until somebody tells news that came after that number: what a look just missed is not lost. */
    public void forNews(Duration wait, long after) {
        await(wait, after);
    }

    /** Something was done in this process that an idle worker may find. */
    public synchronized void tellNews() {
        news++;
        notifyAll();
    }

    private synchronized boolean await(Duration wait, long after) {
        long deadline = System.nanoTime() + wait.toNanos();
        try {
            for (long left = wait.toNanos();
                    !closed && news <= after && left > 0;
                    left = deadline - System.nanoTime()) {
                TimeUnit.NANOSECONDS.timedWait(this, left);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
        return !closed;
    }

    /** Ends every wait, now and later. */
    public synchronized void close() {
        closed = true;
        notifyAll();
    }

    @Override
    public synchronized boolean isClosed() {
        return closed;
    }
}
