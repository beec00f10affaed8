package dev.backfill.host;

import dev.backfill.BackfillId;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.Waiting;
import org.jspecify.annotations.Nullable;

/**
 * What one step of a worker came to.
 *
 * @since 0.1
 */
public sealed interface StepOutcome {

    /** Calls the method of the case at hand; adding a case breaks every implementation at compile time. */
    <T> T match(Cases<T> cases);

    /**
     * What is made of each case.
     *
     * @param <T> the result
     */
    interface Cases<T> {
        /** Of {@link NothingToDo}. */
        T nothingToDo(NothingToDo outcome);

        /** Of {@link Committed}. */
        T committed(Committed outcome);

        /** Of {@link Waits}. */
        T waits(Waits outcome);

        /** Of {@link Fenced}. */
        T fenced(Fenced outcome);

        /** Of {@link Stopped}. */
        T stopped(Stopped outcome);

        /** Of {@link Retrying}. */
        T retrying(Retrying outcome);

        /** Of {@link Ended}. */
        T ended(Ended outcome);

        /** Of {@link Completed}. */
        T completed(Completed outcome);

        /** Of {@link Unavailable}. */
        T unavailable(Unavailable outcome);
    }

    /** Nothing to claim: all is done, held by others, delayed, or not started. */
    record NothingToDo() implements StepOutcome {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.nothingToDo(this);
        }
    }

    /**
     * Rows and checkpoint are durable.
     *
     * @param id the backfill
     * @param rowsScanned keys in the window
     * @param rowsChanged rows changed
     * @param boundReached whether the source is exhausted and the row is now {@code validating}
     */
    record Committed(BackfillId id, long rowsScanned, long rowsChanged, boolean boundReached) implements StepOutcome {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.committed(this);
        }
    }

    /**
     * The claim is kept and nothing was done yet: start barrier or throttle.
     *
     * @param id the backfill
     * @param reason why
     */
    record Waits(BackfillId id, Waiting.Reason reason) implements StepOutcome {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.waits(this);
        }
    }

    /**
     * Another owner holds the claim, or it expired; everything this step wrote was rolled back (CL-6).
     *
     * @param id the backfill
     * @param guard which guard refused, for people
     */
    record Fenced(BackfillId id, String guard) implements StepOutcome {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.fenced(this);
        }
    }

    /**
     * An operator moved the backfill on; everything this step wrote was rolled back.
     *
     * @param id the backfill
     * @param now the state now; null when the row is gone
     */
    record Stopped(BackfillId id, @Nullable BackfillState now) implements StepOutcome {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.stopped(this);
        }
    }

    /**
     * Rolled back; another claim is permitted after a delay.
     *
     * @param id the backfill
     * @param diagnostic why
     */
    record Retrying(BackfillId id, Diagnostic diagnostic) implements StepOutcome {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.retrying(this);
        }
    }

    /**
     * Rolled back or rejected, and the row needs an operator now.
     *
     * @param id the backfill
     * @param state {@code blocked} or {@code failed}
     * @param diagnostic why
     */
    record Ended(BackfillId id, BackfillState state, Diagnostic diagnostic) implements StepOutcome {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.ended(this);
        }
    }

    /**
     * The validation held and the row is completed for ever.
     *
     * @param id the backfill
     */
    record Completed(BackfillId id) implements StepOutcome {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.completed(this);
        }
    }

    /**
     * PostgreSQL could not be used, or the failure could not be recorded; nothing is claimed to be handled (RB-1).
     *
     * @param id the backfill, or null before a claim
     * @param message for people
     */
    record Unavailable(@Nullable BackfillId id, String message) implements StepOutcome {
        @Override
        public <T> T match(Cases<T> cases) {
            return cases.unavailable(this);
        }
    }
}
