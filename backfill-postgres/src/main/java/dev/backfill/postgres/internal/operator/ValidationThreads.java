package dev.backfill.postgres.internal.operator;

import dev.backfill.ValidationReport.Reason;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Runs explicit validations beside the callers that wait for them. At most four at a time; thread-safe. */
public final class ValidationThreads implements AutoCloseable {

    private static final int MOST = 4;

    private final ThreadPoolExecutor pool;

    /** Threads that carry the process's name; none until one is needed. */
    public ValidationThreads(String processName) {
        AtomicInteger number = new AtomicInteger();
        pool = new ThreadPoolExecutor(0, MOST, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
            Thread thread = new Thread(task, "backfill-validation-" + processName + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * Runs and waits for at most that long; the run itself goes on.
     *
     * @param task says why it has no result, or null when it has one
     * @return why there is no result; empty when there is one, or when nobody waits any more
     */
    Optional<Reason> run(Supplier<@Nullable Reason> task, Duration patience) {
        Future<Optional<Reason>> future;
        try {
            future = pool.submit(() -> Optional.ofNullable(task.get()));
        } catch (RejectedExecutionException e) {
            return Optional.of(Reason.UNAVAILABLE);
        }
        try {
            return future.get(patience.toNanos(), TimeUnit.NANOSECONDS);
        } catch (TimeoutException e) {
            return Optional.of(Reason.ALREADY_RUNNING);
        } catch (ExecutionException e) {
            return Optional.of(Reason.UNAVAILABLE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Optional.of(Reason.ALREADY_RUNNING);
        }
    }

    /** No more runs; those there are get an interrupt. */
    public void stop() {
        pool.shutdownNow();
    }

    /** Waits a moment for the threads to end, once what they wait for was taken from them. */
    @Override
    public void close() {
        stop();
        try {
            pool.awaitTermination(1, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
