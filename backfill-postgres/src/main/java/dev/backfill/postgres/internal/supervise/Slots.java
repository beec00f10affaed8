package dev.backfill.postgres.internal.supervise;

import dev.backfill.BackfillId;
import java.sql.SQLException;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * Bounds what runs beside its callers: one at a time for each definition's code, and so many in all. Thread-safe.
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
     * The slot of one caller.
     *
     * @param id whose definition it runs; the parts of a family run one code
     * @return none while another one of that code has its slot, as many as there are have theirs, or a thread is stuck in that code
     */
    public Optional<Slot> enter(BackfillId id) {
        BackfillId code = supervisor.codeOf(id);
        if (supervisor.isStuck(id) || !inside.add(code)) {
            return Optional.empty();
        }
        if (!free.tryAcquire()) {
            inside.remove(code);
            return Optional.empty();
        }
        return Optional.of(new Slot(id, code));
    }

    /** One slot; free again once it is closed and everything that was called in it has come back. Confined to the caller's thread. */
    public final class Slot implements AutoCloseable {

        private final BackfillId id;
        private final BackfillId code;
        private final AtomicInteger holders = new AtomicInteger(1);

        private Slot(BackfillId id, BackfillId code) {
            this.id = id;
            this.code = code;
        }

        /** As {@link Supervisor#callBeside}; what does not come back keeps this slot. */
        public <T> T call(Deadline deadline, Overrun overrun, Callable<T> work) throws Exception {
            holders.incrementAndGet();
            try {
                return supervisor.callBeside(id, deadline, overrun, () -> {
                    try {
                        return work.call();
                    } finally {
                        // First, so that whoever has its answer finds the slot free.
                        leave();
                    }
                });
            } catch (RejectedExecutionException e) {
                leave();
                throw new SQLException("the engine is closed", "08003", e);
            }
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
}
