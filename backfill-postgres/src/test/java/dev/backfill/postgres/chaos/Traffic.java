package dev.backfill.postgres.chaos;

import dev.backfill.testkit.TestDatabase;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** The application's own writes, which go on all the while: updates below the bound, inserts and deletes beyond it. */
final class Traffic implements AutoCloseable {

    private final TestDatabase database;
    private final Random random;
    private final Thread thread = new Thread(this::write, "chaos-traffic");
    private volatile boolean done;
    private final AtomicLong writes = new AtomicLong();

    Traffic(TestDatabase database, long seed) {
        this.database = database;
        this.random = new Random(seed);
        thread.setDaemon(true);
        thread.start();
    }

    long writes() {
        return writes.get();
    }

    private void write() {
        long next = 1_000_000;
        while (!done) {
            try {
                database.update(
                        "UPDATE chaos SET touched = touched + 1 WHERE id BETWEEN ? AND ?",
                        random.nextInt(1_000),
                        1_000 + random.nextInt(10));
                database.update("INSERT INTO chaos (id, hits) VALUES (?, NULL)", next++);
                database.update("DELETE FROM chaos WHERE id = ?", next - 10);
                writes.incrementAndGet();
            } catch (IllegalStateException e) {
                LockSupport.parkNanos(20_000_000);
            }
            LockSupport.parkNanos(10_000_000);
        }
    }

    @Override
    public void close() {
        done = true;
        try {
            thread.join(10_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
