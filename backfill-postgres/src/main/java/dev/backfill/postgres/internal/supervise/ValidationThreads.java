package dev.backfill.postgres.internal.supervise;

import dev.backfill.BackfillId;
import dev.backfill.operate.ValidationReport.Reason;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
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

/** Runs explicit validations beside the callers that wait for them. At most two at a time, for each has a connection; thread-safe. */
public final class ValidationThreads implements AutoCloseable {

    private static final int MOST = 2;

    private final ThreadPoolExecutor pool;
    private final Map<BackfillId, Long> inside = new ConcurrentHashMap<>();

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
     * What became of a run as far as the caller waited for it.
     *
     * @param entered whether it has a thread that records what becomes of it
     * @param reason why there is no result, if there is none
     */
    public record Left(boolean entered, Reason reason) {}

    /**
     * Runs and waits for at most that long; the run itself goes on.
     *
     * @param id whose validation it is
     * @param slot how long PostgreSQL keeps the slot of a run, whatever it does; one that was begun longer ago holds off others by
     *     itself, or a validation that loops would take one thread after another (EV-4)
     * @param task says why it has no result, or null when it has one
     */
    public Left run(BackfillId id, Supplier<@Nullable Reason> task, Duration slot, Duration patience) {
        long now = System.nanoTime();
        Long since = inside.putIfAbsent(id, now);
        if (since != null && now - since > slot.toNanos()) {
            return new Left(false, Reason.ALREADY_RUNNING);
        }
        Future<Optional<Reason>> future;
        try {
            future = pool.submit(() -> {
                try {
                    return Optional.ofNullable(task.get());
                } finally {
                    inside.remove(id, now);
                }
            });
        } catch (RejectedExecutionException e) {
            inside.remove(id, now);
            return new Left(false, since == null ? Reason.UNAVAILABLE : Reason.ALREADY_RUNNING);
        }
        try {
            return new Left(
                    true, future.get(patience.toNanos(), TimeUnit.NANOSECONDS).orElse(Reason.ALREADY_RUNNING));
        } catch (TimeoutException e) {
            return new Left(true, Reason.ALREADY_RUNNING);
        } catch (ExecutionException e) {
            // Of the host's source of connections, before anything could be recorded.
            return new Left(false, Reason.UNAVAILABLE);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return new Left(true, Reason.ALREADY_RUNNING);
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
