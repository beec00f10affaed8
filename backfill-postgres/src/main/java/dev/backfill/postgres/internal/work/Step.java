package dev.backfill.postgres.internal.work;

import dev.backfill.BackfillId;
import dev.backfill.host.StepOutcome;
import dev.backfill.postgres.internal.batch.HeldClaim;
import org.jspecify.annotations.Nullable;

/**
 * What one step came to, and how its worker goes on.
 *
 * @param outcome what the host is told
 * @param held the claim as it is now; null when the worker has none any more
 * @param atOnce whether the next step may find work without a wait
 * @param obstacle why the step came to nothing, where PostgreSQL could not be used; null otherwise
 */
record Step(
        StepOutcome outcome,
        @Nullable HeldClaim held,
        boolean atOnce,
        @Nullable String obstacle) {

    /** The claim is over: lost, given back, or ended by what was recorded. */
    static Step over(StepOutcome outcome) {
        return new Step(outcome, null, false, null);
    }

    /** The claim is kept, and nothing is to be done under it for a while. */
    static Step waits(StepOutcome outcome, HeldClaim held) {
        return new Step(outcome, held, false, null);
    }

    /** Something was done, and there may be more. */
    static Step done(StepOutcome outcome, @Nullable HeldClaim held) {
        return new Step(outcome, held, true, null);
    }

    /** PostgreSQL could not be used; the claim, if there was one, is left to its lease. */
    static Step unavailable(@Nullable BackfillId id, String message) {
        return new Step(new StepOutcome.Unavailable(id, message), null, false, message);
    }

    /** The same, under a claim that is kept. */
    Step keeping(HeldClaim kept) {
        return new Step(outcome, kept, atOnce, obstacle);
    }
}
