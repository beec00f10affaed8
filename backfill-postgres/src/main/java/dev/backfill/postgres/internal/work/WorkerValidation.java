package dev.backfill.postgres.internal.work;

import dev.backfill.operate.Waiting;
import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.batch.ValidationRunner;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.supervise.Watchdog;
import dev.backfill.spi.BackfillEvent;
import java.time.Duration;

/**
 * One step of a claim in {@code validating}: the proof runs in a read-only transaction, while its claim is renewed; what follows is a
 * second one. Thread-safe.
 *
 * @param validations runs the definition's validation
 * @param renewer renews meanwhile
 * @param watchdog ends what takes too long
 * @param judge says what the outcome means
 * @param barrier says what the start barrier waits for
 * @param keeper keeps a claim that waits
 */
public record WorkerValidation(
        ValidationRunner validations,
        Renewer renewer,
        Watchdog watchdog,
        ValidationJudge judge,
        BarrierReport barrier,
        ClaimKeeper keeper) {

    Step run(HeldClaim held) {
        Claim claim = held.claim();
        long started = System.nanoTime();
        ValidationRunner.Result result;
        judge.events().publish(BackfillEvent.Kind.VALIDATION_ATTEMPTED, claim, null);
        Renewer.Renewal renewal = renewer.keep(claim);
        try (Watchdog.Watch watch = watchdog.over(claim, validations.timeout())) {
            result = explained(validations.run(held.prepared().definition()), watch);
        } finally {
            renewal.end();
        }
        Duration took = Duration.ofNanos(System.nanoTime() - started);
        if (result instanceof ValidationRunner.Result.Ran ran) {
            return Step.over(judge.judged(claim, ran.outcome(), took));
        }
        if (result instanceof ValidationRunner.Result.Failed failed) {
            return Step.over(judge.failed(claim, failed.cause()));
        }
        if (result instanceof ValidationRunner.Result.Busy) {
            return keeper.waits(
                    held,
                    Waiting.Reason.CLAIM_HELD,
                    "Another validation of this backfill is under way; this one waits for it.",
                    true);
        }
        if (result instanceof ValidationRunner.Result.BehindBarrier behind) {
            return behind.overdue()
                    ? Step.over(barrier.overdue(claim))
                    : keeper.waits(held, Waiting.Reason.START_BARRIER, barrier.describe(claim), true);
        }
        return Step.over(judge.lost(claim));
    }

    private static ValidationRunner.Result explained(ValidationRunner.Result result, Watchdog.Watch watch) {
        return result instanceof ValidationRunner.Result.Failed failed && failed.cause() instanceof Exception thrown
                ? new ValidationRunner.Result.Failed(watch.explain(thrown))
                : result;
    }
}
