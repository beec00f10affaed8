package dev.backfill.postgres.internal.supervise;

import dev.backfill.host.StepOutcome;
import dev.backfill.postgres.internal.batch.OverdueException;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.work.EngineContext;
import dev.backfill.postgres.internal.work.FailurePolicy;
import dev.backfill.postgres.internal.work.FailureRecorder;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The engine's own deadline for a definition's code (BB-2). PostgreSQL ends a transaction that takes too long, but nobody can end a
 * loop in Java: first the thread is interrupted; code that does not heed it loses its claim by a failure recorded while the lease
 * holds, and this process claims that backfill no more until the code has come back, or one worker after another would be caught
 * in it. Watches the engine's own threads, never those of a host that steps a worker. Thread-safe; owns one thread.
 */
public final class Watchdog implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    private final Duration lease;
    private final Duration transaction;
    private final FailurePolicy policy;
    private final FailureRecorder recorder;
    private final @Nullable ScheduledThreadPoolExecutor timer;
    private final StuckThreads caught;

    private Watchdog(EngineContext engine, FailureRecorder recorder, @Nullable ScheduledThreadPoolExecutor timer) {
        this.lease = engine.options().lease();
        this.transaction = engine.options().transactionTimeout();
        this.policy = new FailurePolicy(engine.options());
        this.recorder = recorder;
        this.caught = engine.caught();
        this.timer = timer;
    }

    /** Watches. */
    public static Watchdog of(EngineContext engine, FailureRecorder recorder, String processName) {
        return new Watchdog(engine, recorder, Timers.on("backfill-watchdog-" + processName));
    }

    /** Lets everything take its time: for threads that are not ours. */
    public static Watchdog blind(EngineContext engine, FailureRecorder recorder) {
        return new Watchdog(engine, recorder, null);
    }

    /**
     * Watches this thread until closed.
     *
     * @param patience the time that the code has before the first sign of impatience, which is a quarter of the lease's rest later
     */
    public Watch over(Claim claim, Duration patience) {
        Duration grace = lease.minus(transaction).dividedBy(4);
        Watch watch = new Watch(claim, grace);
        watch.due = after(patience.plus(grace), watch::interrupt);
        return watch;
    }

    private @Nullable Future<?> after(Duration delay, Runnable task) {
        if (timer == null) {
            return null;
        }
        try {
            return timer.schedule(task, delay.toNanos(), TimeUnit.NANOSECONDS);
        } catch (RejectedExecutionException e) {
            // The engine closes, and interrupts what does not end.
            return null;
        }
    }

    @Override
    public void close() {
        if (timer != null) {
            timer.shutdownNow();
        }
    }

    /** One stay inside a definition's code. */
    public final class Watch implements AutoCloseable {

        private final Claim claim;
        private final Duration grace;
        private final Thread thread = Thread.currentThread();
        private final StuckThreads.Stay stay;
        private @Nullable Future<?> due;
        private boolean interrupted;

        private Watch(Claim claim, Duration grace) {
            this.claim = claim;
            this.grace = grace;
            this.stay = caught.enter(claim.id());
        }

        private synchronized void interrupt() {
            if (!stay.isOver()) {
                interrupted = true;
                thread.interrupt();
                due = after(grace, this::overran);
            }
        }

        private void overran() {
            if (!stay.overran()) {
                return;
            }
            LOG.atError()
                    .addKeyValue("backfill", claim.id())
                    .addKeyValue("generation", claim.generation())
                    .addKeyValue("thread", thread.getName())
                    .log(
                            "A definition's code does not come back and does not heed an interrupt; its thread is lost until"
                                    + " it does. Restart this process");
            record();
        }

        private void record() {
            StepOutcome outcome = recorder.record(claim, policy.overdue(claim));
            if (outcome instanceof StepOutcome.Unavailable) {
                // Until the lease is over, after which the attempt is charged to a lost owner instead.
                synchronized (this) {
                    due = stay.isOver() ? null : after(lease.dividedBy(10), this::record);
                }
            }
        }

        /** What the code threw, as the consequence of a deadline when it is one. */
        public synchronized Exception explain(Exception thrown) {
            return interrupted ? new OverdueException(thrown) : thrown;
        }

        /**
         * Refuses what comes back after the interrupt: the server has ended its transaction or is about to.
         *
         * @throws OverdueException if it was interrupted
         */
        public synchronized void requireInTime() throws OverdueException {
            if (interrupted) {
                throw new OverdueException(null);
            }
        }

        /** The code has come back. */
        @Override
        public synchronized void close() {
            stay.end();
            if (due != null) {
                due.cancel(false);
            }
            if (interrupted) {
                // It was meant for the code that is over, and a pool would refuse a connection to an interrupted
                // thread.
                Thread.interrupted();
            }
        }
    }
}
