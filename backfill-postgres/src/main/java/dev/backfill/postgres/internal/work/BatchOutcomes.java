package dev.backfill.postgres.internal.work;

import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Waiting;
import dev.backfill.postgres.internal.batch.BatchResult;
import dev.backfill.postgres.internal.batch.FenceSql.Work;
import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.batch.WindowSize;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.ReadOnlyException;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.spi.BackfillEvent;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What a batch's result means for its claim and its worker: what is published, settled or recorded after the transaction is over.
 * Thread-safe.
 *
 * @param settlement settles unknown outcomes
 * @param losses says which guard refused
 * @param failures handles failures
 * @param barrier says what the start barrier waits for
 * @param keeper keeps a claim that waits
 * @param events who hears of it
 */
public record BatchOutcomes(
        Settlement settlement,
        LostClaimDiagnosis losses,
        BatchFailures failures,
        BarrierReport barrier,
        ClaimKeeper keeper,
        Events events) {

    /**
     * Draws the consequences of one.
     *
     * @param size the bounds of its window
     */
    Step of(HeldClaim held, BatchResult result, Pacer pacer, WindowSize size) {
        return result.match(
                done -> {
                    pacer.hasBegun();
                    pacer.committed(done.pacing(), done.cost());
                    Claim after =
                            held.claim().advanced(done.state(), done.work().checkpoint());
                    return committed(held, after, done.work(), done.cost().took());
                },
                notMine -> losses.notMine(held.claim()),
                waits -> behindBarrier(held, waits.expired(), pacer),
                missed -> {
                    LostClaimDiagnosis.Found found = losses.find(held, missed);
                    return found.breach() == null
                            ? Objects.requireNonNull(found.outcome())
                            : failures.of(held, found.breach(), pacer, size);
                },
                // Nothing can be written of a wait for writes, not even a renewal: the claim is kept in mind, or
                // lapses.
                failed -> failed.cause() instanceof ReadOnlyException
                        ? Step.waits(new StepOutcome.Waits(held.id(), Waiting.Reason.READ_ONLY), held)
                        : failures.of(held, failed.cause(), pacer, size),
                unknown -> settle(held, unknown, pacer, size));
    }

    /** Without {@code work} nobody can tell how many rows were in it. */
    private Step committed(HeldClaim before, Claim after, @Nullable Work work, @Nullable Duration took) {
        boolean reached = after.state() == BackfillState.VALIDATING;
        BackfillEvent committed =
                Events.about(BackfillEvent.Kind.BATCH_COMMITTED, after, null).took(took);
        events.publish(work == null ? committed : committed.rows(work.scanned(), work.changed()));
        if (reached) {
            events.publish(BackfillEvent.Kind.VALIDATING, after, null);
        }
        long scanned = work == null ? 0 : work.scanned();
        long changed = work == null ? 0 : work.changed();
        return Step.done(new StepOutcome.Committed(after.id(), scanned, changed, reached), before.with(after));
    }

    private Step settle(HeldClaim held, BatchResult.Unknown unknown, Pacer pacer, WindowSize size) {
        Settlement.Settled settled = settlement.settle(held, unknown);
        Claim anew = settled.claim();
        if (anew == null) {
            return settled.verdict() == Settlement.Verdict.SUPERSEDED
                    ? losses.notMine(held.claim())
                    : Step.unavailable(
                            held.id(),
                            "The outcome of a COMMIT of backfill " + held.id()
                                    + " could not be asked; its claim lapses and the next owner reads the truth.");
        }
        if (settled.verdict() == Settlement.Verdict.HISTORY_CHANGED) {
            return Step.unavailable(
                            held.id(),
                            "PostgreSQL was replaced or restored during a batch of backfill " + held.id()
                                    + ", which goes on from the checkpoint that its row has now.")
                    .keeping(held.with(anew));
        }
        return settled.verdict() == Settlement.Verdict.LANDED
                ? committed(held, anew, settled.work(), null)
                : failures.of(held.with(anew), unknown.cause(), pacer, size);
    }

    private Step behindBarrier(HeldClaim held, boolean expired, Pacer pacer) {
        if (expired) {
            return barrier.overdue(held.claim());
        }
        String detail = barrier.describe(held.claim());
        events.publish(Events.about(BackfillEvent.Kind.BARRIER_WAIT, held.claim(), null), "waits_for", detail);
        return keeper.waits(held, new ClaimKeeper.Wait(Waiting.Reason.START_BARRIER, detail, true, null), pacer);
    }
}
