package dev.backfill.testkit;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/**
 * Holds one thread at a known point until the test has done what must happen meanwhile. Once opened it stays open. Every wait has a
 * limit, so that a test that is wrong fails instead of hanging. Thread-safe.
 *
 * <pre>{@code
 * Future<StepOutcome> batch = start(worker::step);   // its repair calls gate.hold()
 * gate.awaitArrival();
 * harness.pause(id);
 * gate.open();
 * }</pre>
 *
 * @since 0.1
 */
public final class Gate {

    private final CountDownLatch arrived = new CountDownLatch(1);
    private final CountDownLatch opened = new CountDownLatch(1);
    private final Duration limit;

    /** A closed gate that is patient for {@link Eventually#DEFAULT_LIMIT}. */
    public Gate() {
        this(Eventually.DEFAULT_LIMIT);
    }

    /** A closed gate with a patience of its own. */
    public Gate(Duration limit) {
        this.limit = limit;
    }

    /** Announces the arrival and waits until the gate is opened. */
    public void hold() {
        arrived.countDown();
        await(opened, "Nobody opened the gate");
    }

    /** Announces the arrival, waits until the gate is opened, then works. */
    public <T> T holdThen(Callable<T> work) throws Exception {
        hold();
        return work.call();
    }

    /** Waits until a thread has arrived. */
    public void awaitArrival() {
        await(arrived, "Nobody arrived at the gate");
    }

    /** Whether a thread has arrived. */
    public boolean hasArrival() {
        return arrived.getCount() == 0;
    }

    /** Lets everybody through, now and from now on. */
    public void open() {
        opened.countDown();
    }

    private void await(CountDownLatch latch, String complaint) {
        try {
            if (!latch.await(limit.toMillis(), TimeUnit.MILLISECONDS)) {
                throw new AssertionError(complaint + " within " + limit.toMillis() + " ms.");
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(complaint + " before this thread was interrupted.", e);
        }
    }
}
