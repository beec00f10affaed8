package dev.backfill.postgres.internal.work;

import dev.backfill.ValidationOutcome;
import dev.backfill.host.StepOutcome;
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

    StepOutcome failed(Claim claim, Throwable cause) {
        return recorder.record(claim, policy.ofValidation(cause, claim));
    }

    StepOutcome judged(Claim claim, ValidationOutcome outcome, Duration took) {
        String code = outcome instanceof ValidationOutcome.Holds ? "success" : "failure";
        events.publish(Events.about(BackfillEvent.Kind.VALIDATED, claim, code).took(took));
        if (outcome instanceof ValidationOutcome.Rejected rejected) {
            return recorder.record(claim, decision(Kind.FAIL, DiagnosticCode.VALIDATION_REJECTED, rejected.note()));
        }
        if (outcome instanceof ValidationOutcome.PrerequisiteUnmet unmet) {
            return recorder.record(claim, decision(Kind.BLOCK, DiagnosticCode.VALIDATION_PREREQUISITE, unmet.note()));
        }
        return completions.complete(claim);
    }

    /** The row was not as its claim said. */
    StepOutcome lost(Claim claim) {
        return recorder.losses().notMine(claim);
    }

    private static Decision decision(Kind kind, DiagnosticCode code, String note) {
        return new Decision(kind, Diagnostic.of(code, note, null), false);
    }
}
