package dev.backfill.postgres.chaos;

import dev.backfill.testkit.TestDatabase;
import java.util.Random;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;

/** The application's own writes, which go on all the while: updates below the bound, inserts and deletes beyond it. */
final class Traffic implements AutoCloseable {

    private final TestDatabase database;
    private final int rows;
    private final Random random;
    private final Thread thread = new Thread(this::write, "chaos-traffic");
    private volatile boolean done;
    private final AtomicLong writes = new AtomicLong();

    Traffic(TestDatabase database, int rows, long seed) {
        this.database = database;
        this.rows = rows;
        this.random = new Random(seed);
        thread.setDaemon(true);
        thread.start();
    }

    /** Statements that were acknowledged. */
    long writes() {
        return writes.get();
    }

    private void write() {
        long next = 1_000_000;
        while (!done) {
            try {
                int from = random.nextInt(rows);
                database.update("UPDATE chaos SET touched = touched + 1 WHERE id BETWEEN ? AND ?", from, from + 20);
                database.update("INSERT INTO chaos (id, hits) VALUES (?, NULL)", next++);
                database.update("DELETE FROM chaos WHERE id = ?", next - 10);
                writes.addAndGet(3);
            } catch (IllegalStateException e) {
                // The server is down for a moment, or a batch and this update had waited for each other.
                LockSupport.parkNanos(20_000_000);
            }
            LockSupport.parkNanos(20_000_000);
        }
    }

    @Override
    public void close() {
        end();
    }

    /** No more writes, so that what is there can be counted. */
    void end() {
        done = true;
        try {
            thread.join(10_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
