package dev.backfill.postgres.internal.engine;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Waits until time is over or the engine closes. Thread-safe. */
public final class SystemPause implements Pause {

    private final CountDownLatch closing = new CountDownLatch(1);

    @Override
    public boolean forAtLeast(Duration wait) {
        try {
            return !closing.await(wait.toNanos(), TimeUnit.NANOSECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return false;
        }
    }

    /** Ends every wait, now and later. */
    public void close() {
        closing.countDown();
    }

    @Override
    public boolean isClosed() {
        return closing.getCount() == 0;
    }
}
