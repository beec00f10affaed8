package dev.backfill.postgres.internal.supervise;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.FamilyPart;
import dev.backfill.postgres.internal.row.Registry;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which definitions have a thread of this process caught in their code, past every deadline (BB-2): until it has come back nobody else
 * is sent there, be it by a claim or by a rehearsal, or one thread after another would be caught. Thread-safe.
 */
public final class StuckThreads {

    private final Registry registry;
    // How many threads, by whose code it is.
    private final Map<BackfillId, Integer> caught = new ConcurrentHashMap<>();

    /** None yet. */
    public StuckThreads(Registry registry) {
        this.registry = registry;
    }

    /** Whose code it is: a family's, for its parts, which run one code. */
    BackfillId codeOf(BackfillId id) {
        return registry.find(id.value())
                .flatMap(BackfillDefinition::part)
                .map(FamilyPart::family)
                .orElse(id);
    }

    /** Whether a thread is caught in that definition's code. */
    public boolean in(BackfillId id) {
        return caught.containsKey(codeOf(id));
    }

    /** A thread goes into that definition's code. */
    Stay enter(BackfillId id) {
        return new Stay(id);
    }

    /** One thread's stay in a definition's code. Thread-safe. */
    final class Stay {

        private final BackfillId id;
        private boolean over;
        private boolean lost;

        private Stay(BackfillId id) {
            this.id = id;
        }

        synchronized boolean isOver() {
            return over;
        }

        /**
         * It took longer than any patience, so that its thread counts as caught.
         *
         * @return false if it has come back meanwhile
         */
        synchronized boolean overran() {
            if (!over && !lost) {
                lost = true;
                caught.merge(codeOf(id), 1, Integer::sum);
            }
            return !over;
        }

        /** The thread has come back. */
        synchronized void end() {
            if (lost && !over) {
                caught.computeIfPresent(codeOf(id), (code, threads) -> threads == 1 ? null : threads - 1);
            }
            over = true;
        }
    }
}
