package dev.backfill.postgres.internal.work;

import dev.backfill.postgres.internal.batch.FailurePolicy;
import dev.backfill.postgres.internal.batch.FailurePolicy.Decision;
import dev.backfill.postgres.internal.batch.FailurePolicy.Failure;
import dev.backfill.postgres.internal.batch.FailurePolicy.Kind;
import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.batch.WindowSize;
import dev.backfill.postgres.internal.jdbc.Redaction;
import dev.backfill.postgres.internal.supervise.Pause;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * What follows from a batch that failed and was rolled back: decided, recorded, and the window narrowed where that may help.
 * Thread-safe.
 *
 * @param policy decides
 * @param blame finds out whose fault an error is
 * @param recorder records
 * @param keeper gives claims back
 * @param pause whether the engine is closing
 */
public record BatchFailures(
        FailurePolicy policy, Blame blame, FailureRecorder recorder, ClaimKeeper keeper, Pause pause) {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    /** Handles one. The claim goes on only where a smaller window is tried under it. */
    Step of(HeldClaim held, Throwable cause, Pacer pacer, WindowSize size) {
        Failure failure = new Failure(cause, size.keys(), pacer.sinceBegun());
        if (pause.isClosed() && isInterruption(cause)) {
            return interrupted(held);
        }
        Decision decision = policy.ofBatch(failure, held.claim());
        if (decision.kind() == Kind.NARROW) {
            decision = blame.of(held, failure, decision);
        }
        decision = blame.withPlan(held, decision);
        LOG.atDebug()
                .setCause(Redaction.of(cause))
                .addKeyValue("backfill", held.id())
                .log("A batch failed");
        if (decision.tooSlow() || decision.kind() == Kind.NARROW) {
            pacer.narrow(size, decision.tooSlow());
        }
        Step step = recorder.record(held.claim(), decision);
        return decision.kind() == Kind.NARROW && step.atOnce() ? step.keeping(held) : step;
    }

    private static boolean isInterruption(Throwable cause) {
        for (Throwable t = cause; t != null; t = t.getCause()) {
            if (t instanceof InterruptedException || t instanceof java.nio.channels.ClosedByInterruptException) {
                return true;
            }
        }
        return Thread.currentThread().isInterrupted();
    }

    /** The engine closes and its patience is over: the repair did not fail, so nothing is charged (RB-5). */
    private Step interrupted(HeldClaim held) {
        // A pool would refuse a connection to an interrupted thread.
        Thread.interrupted();
        keeper.release(held.claim());
        Thread.currentThread().interrupt();
        return Step.unavailable(
                held.id(), "The engine was closed during a batch of backfill " + held.id() + "; it was rolled back.");
    }
}
