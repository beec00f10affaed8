package dev.backfill.postgres.internal.work;

import dev.backfill.ValidationOutcome;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.postgres.internal.batch.FailurePolicy;
import dev.backfill.postgres.internal.batch.FailurePolicy.Decision;
import dev.backfill.postgres.internal.batch.FailurePolicy.Kind;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.spi.BackfillEvent;
import java.time.Duration;

/**
 * What a validation under a claim means for its row: completed, failed, blocked, or tried again (RB-6). Thread-safe.
 *
 * @param policy decides about one that could not run
 * @param recorder records failures
 * @param completions records completions
 * @param events who hears of it
 */
public record ValidationJudge(
        FailurePolicy policy, FailureRecorder recorder, CompletionRecorder completions, Events events) {

    Step failed(Claim claim, Throwable cause) {
        return recorder.record(claim, policy.ofValidation(cause, claim));
    }

    Step judged(Claim claim, ValidationOutcome outcome, Duration took) {
        String code = outcome.match(holds -> "success", rejected -> "failure", unmet -> "failure");
        events.publish(Events.about(BackfillEvent.Kind.VALIDATED, claim, code).took(took));
        return outcome.match(
                holds -> completions.complete(claim),
                rejected -> recorder.record(
                        claim, decision(Kind.FAIL, DiagnosticCode.VALIDATION_REJECTED, rejected.note())),
                unmet -> recorder.record(
                        claim, decision(Kind.BLOCK, DiagnosticCode.VALIDATION_PREREQUISITE, unmet.note())));
    }

    /** The row was not as its claim said. */
    Step lost(Claim claim) {
        return recorder.losses().notMine(claim);
    }

    private static Decision decision(Kind kind, DiagnosticCode code, String note) {
        return new Decision(kind, Diagnostic.of(code, note, null), false);
    }
}
