package dev.backfill.postgres.internal.supervise;

import dev.backfill.BackfillId;
import java.time.Duration;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;

/** One run of a definition's code, from its beginning until its thread has come back. Thread-safe. */
final class Execution {

    private final Supervisor supervisor;
    private final BackfillId id;
    private final Deadline deadline;
    private final Overrun overrun;
    private @Nullable Thread thread;
    private @Nullable Future<?> next;
    private boolean interrupted;
    private boolean stuck;
    private boolean over;

    Execution(Supervisor supervisor, BackfillId id, Deadline deadline, Overrun overrun) {
        this.supervisor = supervisor;
        this.id = id;
        this.deadline = deadline;
        this.overrun = overrun;
        this.next = supervisor.after(deadline.patience(), this::interrupt);
    }

    /** This thread goes into the code. */
    synchronized void begin() {
        thread = Thread.currentThread();
        if (interrupted) {
            thread.interrupt();
        }
    }

    /**
     * The thread has come back.
     *
     * @return whether it had more than its time
     */
    synchronized boolean end() {
        if (over) {
            return interrupted;
        }
        over = true;
        if (stuck) {
            supervisor.cameBack(id);
        }
        if (next != null) {
            next.cancel(false);
        }
        if (interrupted) {
            // It was meant for the code that is over, and a pool would refuse a connection to an interrupted thread.
            Thread.interrupted();
        }
        return interrupted;
    }

    /** Its time is over, or nobody waits for it any more. */
    synchronized void interrupt() {
        if (!over && !interrupted) {
            interrupted = true;
            if (thread != null) {
                thread.interrupt();
            }
            // Nothing that it still does can count, and its locks are in others' way.
            overrun.abandon();
            next = supervisor.after(deadline.grace(), this::giveUp);
        }
    }

    private void giveUp() {
        if (abandon()) {
            supervisor.reportStuck(id, thread);
        }
        record();
    }

    /** Takes away what it works with, and counts its thread as stuck unless it never came to the code or has come back. */
    boolean abandon() {
        return overrun.abandon() && countAsStuck();
    }

    /** False if it has come back meanwhile. */
    private synchronized boolean countAsStuck() {
        if (!over && !stuck) {
            stuck = true;
            supervisor.doesNotComeBack(id);
        }
        return !over;
    }

    private void record() {
        if (isOver() || overrun.record() || supervisor.isClosed()) {
            return;
        }
        Duration pause = deadline.grace().dividedBy(2);
        synchronized (this) {
            next = over ? null : supervisor.after(pause, this::record);
        }
    }

    private synchronized boolean isOver() {
        return over;
    }
}
