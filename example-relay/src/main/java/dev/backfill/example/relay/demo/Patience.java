package dev.backfill.example.relay.demo;

import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** Bounded waiting for what happens in other processes. */
final class Patience {

    private Patience() {}

    /** A condition that asks the outside world. */
    interface Condition {
        boolean holds() throws Exception;
    }

    /** Asks again and again, and gives up with an exception that names what was waited for. */
    static void until(String what, Duration limit, Duration every, Condition condition) throws Exception {
        long deadline = System.nanoTime() + limit.toNanos();
        while (!condition.holds()) {
            if (System.nanoTime() > deadline) {
                throw new DemoFailure("Waited " + limit.toSeconds() + " s in vain until " + what + ".");
            }
            pause(every);
        }
    }

    static void pause(Duration time) throws InterruptedException {
        new CountDownLatch(1).await(time.toMillis(), TimeUnit.MILLISECONDS);
    }
}
