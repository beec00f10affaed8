package dev.backfill.testkit;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/**
 * Bounded polling, for what happens on threads or in processes that a test does not step itself. Where the other side can be held
 * at a {@link Gate}, prefer that. Thread-safe.
 *
 * @since 0.1
 */
public final class Eventually {

    /** How long a condition may take by default; long, because it only costs time when a test fails. */
    public static final Duration DEFAULT_LIMIT = Duration.ofSeconds(30);

    private static final long POLL_NANOS = Duration.ofMillis(10).toNanos();

    private final Duration limit;

    private Eventually(Duration limit) {
        this.limit = limit;
    }

    /** Another limit than the default. */
    public static Eventually within(Duration limit) {
        return new Eventually(limit);
    }

    /** Waits until a condition holds. */
    public static void until(String what, Callable<Boolean> condition) {
        within(DEFAULT_LIMIT).holds(what, condition);
    }

    /**
     * Waits until a condition holds.
     *
     * @param what what is waited for, for the failure
     * @throws AssertionError if it does not hold within the limit, with the last exception it threw, if it did
     */
    public void holds(String what, Callable<Boolean> condition) {
        long deadline = System.nanoTime() + limit.toNanos();
        Exception last = null;
        do {
            try {
                if (condition.call()) {
                    return;
                }
                last = null;
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new AssertionError("Interrupted while waiting until " + what + ".", e);
            } catch (Exception e) {
                last = e;
            }
            LockSupport.parkNanos(POLL_NANOS);
            if (Thread.currentThread().isInterrupted()) {
                throw new AssertionError("Interrupted while waiting until " + what + ".");
            }
        } while (System.nanoTime() - deadline < 0);
        throw new AssertionError("Waited " + limit.toMillis() + " ms in vain until " + what + ".", last);
    }
}
