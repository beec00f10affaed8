package dev.backfill.benchmarks.lab;

import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.concurrent.locks.LockSupport;

/** Waits, finely enough for a measurement and never without end. */
public final class Patience {

    private static final long LOOK_NANOS = 200_000;

    private Patience() {}

    /** Waits until something holds. */
    public static void until(String what, Duration most, Callable<Boolean> holds) throws Exception {
        long deadline = System.nanoTime() + most.toNanos();
        while (!holds.call()) {
            if (System.nanoTime() > deadline) {
                throw new IllegalStateException("Waited " + most + " in vain until " + what + ".");
            }
            LockSupport.parkNanos(LOOK_NANOS);
        }
    }

    /** Waits for some time. */
    public static void rest(Duration time) {
        until(System.nanoTime() + time.toNanos());
    }

    /** Waits until an instant of {@link System#nanoTime}. */
    public static void until(long nanoTime) {
        for (long left = nanoTime - System.nanoTime(); left > 0; left = nanoTime - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }
}
