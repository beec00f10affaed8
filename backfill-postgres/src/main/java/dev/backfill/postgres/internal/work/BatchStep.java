package dev.backfill.postgres.internal.work;

import dev.backfill.operate.Waiting;
import dev.backfill.postgres.internal.batch.BatchRunner;
import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.batch.WindowSize;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.spi.BackfillEvent;
import java.util.Optional;

/**
 * One step of a claim in {@code running}: a rest where one is due, or else a batch and its consequences. Thread-safe.
 *
 * @param throttle whether to rest
 * @param batches runs a batch
 * @param outcomes what its result means
 * @param keeper keeps the claim during a rest
 * @param events who hears of it
 */
public record BatchStep(
        Throttle throttle, BatchRunner batches, BatchOutcomes outcomes, ClaimKeeper keeper, Events events) {

    Step run(HeldClaim held, Pacer pacer) {
        Optional<Throttle.Reason> rests = throttle.of(held, pacer);
        if (rests.isPresent()) {
            return rests(held, rests.get(), pacer);
        }
        pacer.works();
        WindowSize size = pacer.size();
        pacer.begin();
        return outcomes.of(held, batches.run(held, size), pacer, size);
    }

    /** Says once why it rests, and keeps the claim meanwhile; costs no attempt. */
    private Step rests(HeldClaim held, Throttle.Reason why, Pacer pacer) {
        boolean announced = pacer.restsFor(why.signal()) && why.worthAWord();
        if (announced) {
            events.publish(Events.about(BackfillEvent.Kind.THROTTLED, held.claim(), why.signal()), "why", why.detail());
        }
        return keeper.waits(
                held, new ClaimKeeper.Wait(Waiting.Reason.THROTTLED, why.detail(), announced, why.left()), pacer);
    }
}
