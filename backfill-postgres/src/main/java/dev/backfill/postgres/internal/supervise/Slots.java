package dev.backfill.postgres.internal.supervise;

import dev.backfill.BackfillId;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Bounds what runs beside its callers, for each has a connection. Thread-safe.
 */
public final class Slots {

    private final Supervisor supervisor;
    private final Semaphore free;
    private final Set<BackfillId> inside = ConcurrentHashMap.newKeySet();

    /** As many as that. */
    public Slots(Supervisor supervisor, int most) {
        this.supervisor = supervisor;
        this.free = new Semaphore(most);
    }

    /**
     * A slot for a caller that may be the only one in that code.
     *
     * @param id whose definition it runs; the parts of a family run one code
     * @return none while another one of that code has its slot, as many as there are have theirs, or a thread is stuck in that code
     */
    public Optional<Slot> enterAlone(BackfillId id) {
        BackfillId code = supervisor.codeOf(id);
        if (supervisor.isStuck(id) || !inside.add(code)) {
            return Optional.empty();
        }
        if (!free.tryAcquire()) {
            inside.remove(code);
            return Optional.empty();
        }
        return Optional.of(new Slot(id, () -> inside.remove(code)));
    }

    /**
     * A slot for a caller that need not be alone.
     *
     * @return none while as many as there are have theirs, or a thread is stuck in that code
     */
    public Optional<Slot> enter(BackfillId id) {
        return supervisor.isStuck(id) || !free.tryAcquire() ? Optional.empty() : Optional.of(new Slot(id, () -> {}));
    }

    /**
     * One slot; free again once it is closed and everything that was called in it has come back, or is stuck: then its code is refused,
     * and other code must not pay for it. Confined to the caller's thread.
     */
    public final class Slot implements AutoCloseable {

        private final BackfillId id;
        private final Runnable whenFree;
        private final AtomicInteger holders = new AtomicInteger(1);

        private Slot(BackfillId id, Runnable whenFree) {
            this.id = id;
            this.whenFree = whenFree;
        }

        /** As {@link Supervisor#callBeside}. */
        public <T> T call(Deadline deadline, Overrun overrun, Callable<T> work) throws Exception {
            Called<T> called = new Called<>(overrun, work);
            try {
                return supervisor.callBeside(id, deadline, called, called);
            } catch (RejectedExecutionException e) {
                throw called.refused(e);
            }
        }

        /** As {@link Supervisor#beside}. */
        public <T> Future<T> begin(Deadline deadline, Overrun overrun, Callable<T> work) throws SQLException {
            Called<T> called = new Called<>(overrun, work);
            try {
                return supervisor.beside(id, deadline, called, called);
            } catch (RejectedExecutionException e) {
                throw called.refused(e);
            }
        }

        private void leave() {
            if (holders.decrementAndGet() == 0) {
                whenFree.run();
                free.release();
            }
        }

        @Override
        public void close() {
            leave();
        }

        /** Holds the slot until it is over, one way or the other. */
        private final class Called<T> implements Callable<T>, Overrun {

            private final Overrun overrun;
            private final Callable<T> work;
            private final AtomicBoolean left = new AtomicBoolean();

            Called(Overrun overrun, Callable<T> work) {
                this.overrun = overrun;
                this.work = work;
                holders.incrementAndGet();
            }

            @Override
            public T call() throws Exception {
                try {
                    return work.call();
                } finally {
                    // First, so that whoever has its answer finds the slot free.
                    leaveOnce();
                }
            }

            @Override
            public boolean abandon() {
                return overrun.abandon();
            }

            @Override
            public boolean record() {
                if (supervisor.isStuck(id)) {
                    leaveOnce();
                }
                return overrun.record();
            }

            SQLException refused(RejectedExecutionException e) {
                leaveOnce();
                return new SQLException("the engine is closed", "08003", e);
            }

            private void leaveOnce() {
                if (left.compareAndSet(false, true)) {
                    leave();
                }
            }
        }
    }
}
