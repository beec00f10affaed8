package dev.backfill.postgres.internal.supervise;

import java.time.Duration;
import java.util.concurrent.TimeUnit;

/** Waits until time is over, somebody wakes it up, or the engine closes. Thread-safe. */
public final class SystemPause implements Pause {

    private boolean closed;
    private long wakeUps;

    @Override
    public boolean forAtLeast(Duration wait) {
        return await(wait, Long.MAX_VALUE);
    }

    /** How often it was woken up so far; taken before one looks for work, for {@link #untilWokenUp}. */
    public synchronized long wakeUps() {
        return wakeUps;
    }

    /** Waits until it is woken up once more than that; at once if it was already, so that what a look just missed is not lost. */
    public void untilWokenUp(Duration wait, long after) {
        await(wait, after);
    }

    /** Ends the waits for work: something was done in this process that an idle worker may find. */
    public synchronized void wakeUp() {
        wakeUps++;
        notifyAll();
    }

    private synchronized boolean await(Duration wait, long after) {
        long deadline = System.nanoTime() + wait.toNanos();
        try {
            for (long left = wait.toNanos();
                    !closed && wakeUps <= after && left > 0;
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
