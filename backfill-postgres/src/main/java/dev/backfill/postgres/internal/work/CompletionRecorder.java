package dev.backfill.postgres.internal.work;

import dev.backfill.host.StepOutcome;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.postgres.internal.batch.FailurePolicy.Decision;
import dev.backfill.postgres.internal.batch.FailurePolicy.Kind;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.row.AuditSql;
import dev.backfill.postgres.internal.row.AuditSql.AuditFailedException;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.OutcomeSql;
import dev.backfill.spi.BackfillEvent;
import java.sql.SQLException;

/**
 * Completes a backfill after its validation has held, fenced like a batch: the only way by which the engine itself does (VA-3).
 * Thread-safe.
 *
 * @param transactions short ones
 * @param outcomes the statements
 * @param audit audit records
 * @param events who hears of it
 * @param losses says what became of a claim that is lost
 * @param recorder records that there could be no audit record
 */
public record CompletionRecorder(
        Transactions transactions,
        OutcomeSql outcomes,
        AuditSql audit,
        Events events,
        LostClaimDiagnosis losses,
        FailureRecorder recorder) {

    Step complete(Claim claim) {
        try {
            boolean completed = transactions.inTransaction(session -> {
                if (!outcomes.complete(session, claim)) {
                    return false;
                }
                audit.write(session, completion(claim));
                return true;
            });
            if (!completed) {
                return losses.notMine(claim);
            }
            events.publish(BackfillEvent.Kind.COMPLETED, claim, null);
            return Step.done(new StepOutcome.Completed(claim.id()), null);
        } catch (AuditFailedException e) {
            // It did not happen. Said in the row, and tried again after a delay instead of after a lapsed lease.
            String message = "The audit record of the completion could not be written, so it did not happen."
                    + " Repair the audit table or sink.";
            Diagnostic why = Diagnostic.of(DiagnosticCode.INFRASTRUCTURE, message, e.getSQLState());
            return recorder.record(claim, new Decision(Kind.RETRY_CONTENTION, why, false));
        } catch (SQLException e) {
            // Whether it landed, the row knows: completed it is left alone, otherwise the claim lapses and validation
            // runs again.
            return Step.unavailable(
                    claim.id(),
                    "The completion of backfill " + claim.id()
                            + " could not be written or confirmed; its row decides.");
        }
    }

    private static AuditRecord completion(Claim claim) {
        return AuditRecord.of(new Authority(Authority.Kind.ENGINE, null), "complete", AuditRecord.Outcome.APPLIED)
                .about(claim.id())
                .moved(BackfillState.VALIDATING, BackfillState.COMPLETED, claim.generation())
                .build();
    }
}
