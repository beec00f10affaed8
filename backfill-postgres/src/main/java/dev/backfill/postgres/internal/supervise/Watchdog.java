package dev.backfill.postgres.internal.supervise;

import dev.backfill.host.EngineOptions;
import dev.backfill.postgres.internal.row.Claim;
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
 * in it. Watches the engine's own threads, never those of a host that steps a worker. Thread-safe.
 */
public final class Watchdog {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    private final Duration lease;
    private final Duration transaction;
    private final Overrun overrun;
    private final @Nullable ScheduledThreadPoolExecutor timer;
    private final StuckThreads caught;

    /**
     * Watches; without a timer it lets everything take its time, for threads that are not ours.
     *
     * @param timer shut down by its owner
     */
    public Watchdog(
            EngineOptions options, StuckThreads caught, Overrun overrun, @Nullable ScheduledThreadPoolExecutor timer) {
        this.lease = options.lease();
        this.transaction = options.transactionTimeout();
        this.caught = caught;
        this.overrun = overrun;
        this.timer = timer;
    }

    /** What follows when the code under a claim does not come back. */
    @FunctionalInterface
    public interface Overrun {
        /**
         * Records it, from the watchdog's thread.
         *
         * @return false to be asked again a little later
         */
        boolean record(Claim claim);
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
            if (!overrun.record(claim)) {
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
