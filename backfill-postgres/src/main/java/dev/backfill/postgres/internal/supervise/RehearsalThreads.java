package dev.backfill.postgres.internal.supervise;

import dev.backfill.BackfillId;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the windows of rehearsals beside the callers that wait for them: nobody can end a loop in a definition's Java code, so it must
 * not be the caller who is caught in it (BB-2). One rehearsal at a time for each definition and two in all, each with one thread;
 * thread-safe.
 */
public final class RehearsalThreads implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");
    private static final int MOST = 2;

    private final ThreadPoolExecutor pool;
    private final Semaphore free = new Semaphore(MOST);
    private final Set<BackfillId> inside = ConcurrentHashMap.newKeySet();
    private final StuckThreads caught;

    /** Threads that carry the process's name; none until one is needed. */
    public RehearsalThreads(String processName, StuckThreads caught) {
        this.caught = caught;
        AtomicInteger number = new AtomicInteger();
        // Places are what is bounded; a thread that has given its place back may still be on its way into the pool.
        pool = new ThreadPoolExecutor(0, Integer.MAX_VALUE, 10, TimeUnit.SECONDS, new SynchronousQueue<>(), task -> {
            Thread thread = new Thread(task, "backfill-rehearsal-" + processName + "-" + number.incrementAndGet());
            thread.setDaemon(true);
            return thread;
        });
    }

    /**
     * The place of one rehearsal.
     *
     * @param id whose definition it runs; the parts of a family run one code
     * @return none while another one of that code has its place, as many as there are have theirs, or a thread is caught in that code
     */
    public Optional<Place> enter(BackfillId id) {
        BackfillId code = caught.codeOf(id);
        if (caught.in(id) || !inside.add(code)) {
            return Optional.empty();
        }
        if (!free.tryAcquire()) {
            inside.remove(code);
            return Optional.empty();
        }
        return Optional.of(new Place(code));
    }

    /** What a place is for. */
    public interface Window<T> extends Callable<T> {
        /**
         * Takes away what the window works with, from another thread; one that has not begun never will.
         *
         * @return whether its thread is inside the definition's code
         */
        boolean abandon();
    }

    /** One rehearsal's place; free again once it is closed and its last window has come back. Confined to the caller's thread. */
    public final class Place implements AutoCloseable {

        private final BackfillId code;
        private final AtomicInteger holders = new AtomicInteger(1);

        private Place(BackfillId code) {
            this.code = code;
        }

        /**
         * Runs one window and waits for it. One that does not come back is interrupted; one that does not heed that is abandoned,
         * and keeps this place.
         *
         * @param patience how long it may take
         * @param grace how long it may take to heed the interrupt
         * @return what it returned; empty if it had more than its time
         * @throws BackfillUnavailableException if the caller is interrupted meanwhile
         */
        public <T> Optional<T> run(Window<T> window, Duration patience, Duration grace) throws SQLException {
            FutureTask<T> task = new FutureTask<>(window);
            StuckThreads.Stay stay = caught.enter(code);
            CountDownLatch back = submit(task, stay);
            try {
                if (!back.await(patience.toNanos(), TimeUnit.NANOSECONDS)) {
                    task.cancel(true);
                    if (!back.await(grace.toNanos(), TimeUnit.NANOSECONDS)) {
                        giveUp(window, stay);
                    }
                    return Optional.empty();
                }
                return Optional.of(task.get());
            } catch (InterruptedException e) {
                task.cancel(true);
                if (window.abandon()) {
                    // Nobody is left who could see whether it heeds the interrupt.
                    stay.overran();
                }
                Thread.currentThread().interrupt();
                throw new BackfillUnavailableException(
                        Reason.UNAVAILABLE,
                        "The thread that asked for the rehearsal was interrupted. Nothing was changed; repeat the same request.",
                        null);
            } catch (ExecutionException e) {
                if (e.getCause() instanceof SQLException sql) {
                    throw sql;
                }
                // Of the host's source of connections: what a definition throws is a window's result.
                throw e.getCause() instanceof RuntimeException unchecked
                        ? unchecked
                        : new IllegalStateException(e.getCause());
            }
        }

        private CountDownLatch submit(Runnable task, StuckThreads.Stay stay) throws SQLException {
            CountDownLatch back = new CountDownLatch(1);
            holders.incrementAndGet();
            try {
                pool.execute(() -> {
                    task.run();
                    stay.end();
                    // First, so that whoever has its answer finds the place free.
                    leave();
                    back.countDown();
                });
                return back;
            } catch (RejectedExecutionException e) {
                leave();
                throw new SQLException("the engine is closed", "08003", e);
            }
        }

        private void giveUp(Window<?> window, StuckThreads.Stay stay) {
            if (!window.abandon() || !stay.overran()) {
                return;
            }
            LOG.atError()
                    .addKeyValue("backfill", code)
                    .log(
                            "A definition's code does not come back from a rehearsal and does not heed an interrupt; its thread is"
                                    + " lost until it does. Restart this process");
        }

        private void leave() {
            if (holders.decrementAndGet() == 0) {
                inside.remove(code);
                free.release();
            }
        }

        @Override
        public void close() {
            leave();
        }
    }

    /** No more windows; those there are get an interrupt. */
    @Override
    public void close() {
        pool.shutdownNow();
    }
}
