package dev.backfill.postgres.internal.work;

import dev.backfill.operate.Waiting;
import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.supervise.CodeUnderClaim;
import dev.backfill.postgres.internal.supervise.LentSession;
import dev.backfill.postgres.internal.validate.ValidationRunner;
import dev.backfill.spi.BackfillEvent;
import java.time.Duration;

/**
 * One step of a claim whose row is to be validated: the proof runs in a read-only transaction, while its claim is renewed; what follows is a
 * second one. Thread-safe.
 *
 * @param validations runs the definition's validation
 * @param renewer renews meanwhile
 * @param code supervises it
 * @param judge says what the outcome means
 * @param barrier says what the start barrier waits for
 * @param keeper keeps a claim that waits
 */
public record WorkerValidation(
        ValidationRunner validations,
        Renewer renewer,
        CodeUnderClaim code,
        ValidationJudge judge,
        BarrierReport barrier,
        ClaimKeeper keeper) {

    Step run(HeldClaim held, Pacer pacer) {
        Claim claim = held.claim();
        long started = System.nanoTime();
        ValidationRunner.Result result;
        judge.events().publish(BackfillEvent.Kind.VALIDATION_ATTEMPTED, claim, null);
        LentSession lent = new LentSession();
        Renewer.Renewal renewal = renewer.keep(claim);
        try {
            result = code.call(
                    claim,
                    validations.timeout(),
                    lent,
                    () -> validations.run(held.prepared().definition(), lent));
        } catch (Exception e) {
            result = new ValidationRunner.Result.Failed(e);
        } finally {
            renewal.end();
        }
        Duration took = Duration.ofNanos(System.nanoTime() - started);
        return result.match(
                ran -> judge.judged(claim, ran.outcome(), took),
                busy -> waits(
                        held,
                        Waiting.Reason.CLAIM_HELD,
                        "Another validation of this backfill is under way; this one waits for it.",
                        pacer),
                behind -> behind.overdue()
                        ? barrier.overdue(claim)
                        : waits(held, Waiting.Reason.START_BARRIER, barrier.describe(claim), pacer),
                unreadable -> judge.lost(claim),
                failed -> judge.failed(claim, failed.cause()));
    }

    private Step waits(HeldClaim held, Waiting.Reason reason, String detail, Pacer pacer) {
        return keeper.waits(held, new ClaimKeeper.Wait(reason, detail, true, null), pacer);
    }
}
