package dev.backfill.postgres.internal.work;

import dev.backfill.ValidationOutcome;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.operate.Waiting;
import dev.backfill.postgres.internal.batch.ValidationRunner;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.row.AuditSql.AuditFailedException;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.supervise.Watchdog;
import dev.backfill.postgres.internal.work.FailurePolicy.Decision;
import dev.backfill.postgres.internal.work.FailurePolicy.Kind;
import dev.backfill.spi.BackfillEvent;
import java.sql.SQLException;
import java.time.Duration;

/**
 * The validation under a claim: the only way by which the engine itself completes a backfill (VA-3). The proof runs in a read-only
 * transaction; the completion is a second one, fenced like a batch. Thread-safe.
 */
public final class WorkerValidation {

    private final EngineContext engine;
    private final ValidationRunner validations;
    private final Renewer renewer;
    private final Watchdog watchdog;
    private final FailurePolicy policy;
    private final FailureRecorder recorder;
    private final LostClaimDiagnosis losses;
    private final BarrierReport barrier;

    WorkerValidation(
            EngineContext engine,
            Renewer renewer,
            Watchdog watchdog,
            FailureRecorder recorder,
            LostClaimDiagnosis losses) {
        this.engine = engine;
        this.validations = new ValidationRunner(engine);
        this.renewer = renewer;
        this.watchdog = watchdog;
        this.policy = new FailurePolicy(engine.options());
        this.recorder = recorder;
        this.losses = losses;
        this.barrier = new BarrierReport(engine);
    }

    StepOutcome run(HeldClaim held) {
        Claim claim = held.claim();
        long started = System.nanoTime();
        ValidationRunner.Result result;
        engine.events().publish(BackfillEvent.Kind.VALIDATION_ATTEMPTED, claim, null);
        Renewer.Renewal renewal = renewer.keep(claim);
        try (Watchdog.Watch watch = watchdog.over(claim, engine.options().validationTimeout())) {
            result = explained(validations.run(held.prepared().definition()), watch);
        } finally {
            renewal.end();
        }
        Duration took = Duration.ofNanos(System.nanoTime() - started);
        if (result instanceof ValidationRunner.Result.Ran ran) {
            return judged(held, ran.outcome(), took);
        }
        if (result instanceof ValidationRunner.Result.Failed failed) {
            return recorder.record(claim, policy.ofValidation(failed.cause(), claim));
        }
        if (result instanceof ValidationRunner.Result.Busy) {
            return new StepOutcome.Waits(claim.id(), Waiting.Reason.CLAIM_HELD);
        }
        if (result instanceof ValidationRunner.Result.BehindBarrier behind) {
            return behind.overdue()
                    ? barrier.overdue(recorder, claim)
                    : new StepOutcome.Waits(claim.id(), Waiting.Reason.START_BARRIER);
        }
        return losses.notMine(held);
    }

    private static ValidationRunner.Result explained(ValidationRunner.Result result, Watchdog.Watch watch) {
        return result instanceof ValidationRunner.Result.Failed failed && failed.cause() instanceof Exception thrown
                ? new ValidationRunner.Result.Failed(watch.explain(thrown))
                : result;
    }

    private StepOutcome judged(HeldClaim held, ValidationOutcome outcome, Duration took) {
        Claim claim = held.claim();
        String code = outcome instanceof ValidationOutcome.Holds ? "success" : "failure";
        engine.events()
                .publish(Events.about(BackfillEvent.Kind.VALIDATED, claim, code).took(took));
        if (outcome instanceof ValidationOutcome.Rejected rejected) {
            return recorder.record(claim, decision(Kind.FAIL, DiagnosticCode.VALIDATION_REJECTED, rejected.note()));
        }
        if (outcome instanceof ValidationOutcome.PrerequisiteUnmet unmet) {
            return recorder.record(claim, decision(Kind.BLOCK, DiagnosticCode.VALIDATION_PREREQUISITE, unmet.note()));
        }
        return complete(held);
    }

    private static Decision decision(Kind kind, DiagnosticCode code, String note) {
        return new Decision(kind, Diagnostic.of(code, note, null), false);
    }

    private StepOutcome complete(HeldClaim held) {
        Claim claim = held.claim();
        try {
            boolean completed = engine.control().inTransaction(session -> {
                if (!engine.sql().outcomes().complete(session, claim)) {
                    return false;
                }
                engine.sql().audit().write(session, completion(claim));
                return true;
            });
            if (!completed) {
                return losses.notMine(held);
            }
            engine.events().publish(BackfillEvent.Kind.COMPLETED, claim, null);
            return new StepOutcome.Completed(claim.id());
        } catch (AuditFailedException e) {
            // It did not happen. Said in the row, and tried again after a delay instead of after a lapsed lease.
            String message = "The audit record of the completion could not be written, so it did not happen."
                    + " Repair the audit table or sink.";
            Diagnostic why = Diagnostic.of(DiagnosticCode.INFRASTRUCTURE, message, e.getSQLState());
            return recorder.record(claim, new Decision(Kind.RETRY_CONTENTION, why, false));
        } catch (SQLException e) {
            // Whether it landed, the row knows: completed it is left alone, otherwise the claim lapses and validation
            // runs again.
            return new StepOutcome.Unavailable(
                    claim.id(),
                    "The completion of backfill " + claim.id()
                            + " could not be written or confirmed; its row decides.");
        }
    }

    private static AuditRecord completion(Claim claim) {
        return new AuditRecord(
                new Authority(Authority.Kind.ENGINE, null),
                claim.id(),
                null,
                "complete",
                BackfillState.VALIDATING,
                BackfillState.COMPLETED,
                claim.generation(),
                "applied",
                null);
    }
}
