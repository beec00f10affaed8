package dev.backfill.postgres.internal.work;

import dev.backfill.host.StepOutcome;
import dev.backfill.postgres.internal.batch.HeldClaim;
import org.jspecify.annotations.Nullable;

/**
 * What one step came to, and the claim with which its worker goes on.
 *
 * @param outcome what the host is told
 * @param held the claim as it is now; null when the worker has none any more
 */
record Step(StepOutcome outcome, @Nullable HeldClaim held) {

    /** The claim is over: lost, given back, or ended by what was recorded. */
    static Step over(StepOutcome outcome) {
        return new Step(outcome, null);
    }
}
