package dev.backfill.postgres.internal.work;

import dev.backfill.BackfillId;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.postgres.internal.batch.FailurePolicy;
import dev.backfill.postgres.internal.batch.FailurePolicy.Decision;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.row.AuditSql;
import dev.backfill.postgres.internal.row.AuditSql.AuditFailedException;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.ClaimSql.Candidate;
import dev.backfill.postgres.internal.row.OutcomeSql;
import dev.backfill.spi.BackfillEvent;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Records what was decided, in a transaction of its own, before anybody calls it handled (RB-1). A server that
 * went away is asked again for as long as the lease allows; if nothing can be written by then, the lease runs out, and the attempt is
 * charged already. Thread-safe.
 *
 * @param transactions short ones
 * @param outcomes the statements
 * @param audit audit records
 * @param events who hears of it
 * @param losses says what became of a claim that is lost
 * @param settlement takes a claim anew once PostgreSQL answers again
 */
public record FailureRecorder(
        Transactions transactions,
        OutcomeSql outcomes,
        AuditSql audit,
        Events events,
        LostClaimDiagnosis losses,
        Settlement settlement) {

    private static final Authority ENGINE = new Authority(Authority.Kind.ENGINE, null);

    /** Records a decision, with one try; false if that could not be done. */
    public boolean records(Claim claim, Decision decision) {
        return once(claim, decision).obstacle() == null;
    }

    /**
     * Records a decision; what the step came to. Whoever knows the token of a live claim need not wait for its lease: once a
     * server answers, it takes the claim anew, with the checkpoint of that server's history, and records under it.
     */
    Step record(Claim claim, Decision decision) {
        Step first = once(claim, decision);
        if (first.obstacle() == null) {
            return first;
        }
        Claim anew = settlement.ask(claim);
        return anew == null ? first : once(anew, afterAnOutage(decision));
    }

    /** The claim taken anew is not the one under which a smaller window would be tried. */
    private static Decision afterAnOutage(Decision decision) {
        return decision.kind() == FailurePolicy.Kind.NARROW
                ? new Decision(FailurePolicy.Kind.RETRY, decision.diagnostic(), decision.tooSlow())
                : decision;
    }

    /** A claim that is not ours any more changes nothing. */
    private Step once(Claim claim, Decision decision) {
        Diagnostic why = decision.diagnostic();
        try {
            boolean recorded = switch (decision.kind()) {
                case RETRY -> transactions.inTransaction(s -> outcomes.delay(s, claim, why, false));
                case RETRY_CONTENTION -> transactions.inTransaction(s -> outcomes.delay(s, claim, why, true));
                case NARROW -> transactions.inTransaction(s -> outcomes.narrow(s, claim, why));
                case BLOCK -> transactions.inTransaction(s -> end(s, claim, BackfillState.BLOCKED, why));
                case FAIL -> transactions.inTransaction(s -> end(s, claim, BackfillState.FAILED, why));
            };
            return recorded ? recorded(claim, decision) : losses.notMine(claim);
        } catch (AuditFailedException e) {
            return delayed(claim, why);
        } catch (SQLException e) {
            return Step.unavailable(
                    claim.id(),
                    "The failure of backfill " + claim.id() + " (" + why.code()
                            + ") could not be recorded; whoever claims it next goes on from its checkpoint.");
        }
    }

    /** The end did not happen, for want of its audit record: said in the row, and tried again after a delay (RB-1, AU-3). */
    private Step delayed(Claim claim, Diagnostic why) {
        String message =
                "An audit record could not be written, so the row stays as it is. Repair the audit table or sink."
                        + " Until then: " + why.message();
        Diagnostic unended = new Diagnostic(why.code(), message, why.sqlState(), why.at());
        return once(claim, new Decision(FailurePolicy.Kind.RETRY_CONTENTION, unended, false));
    }

    private boolean end(Session session, Claim claim, BackfillState state, Diagnostic why) throws SQLException {
        if (!outcomes.end(session, claim, state, why)) {
            return false;
        }
        String action = state == BackfillState.BLOCKED ? "block" : "fail";
        audit.write(
                session,
                AuditRecord.of(ENGINE, action, AuditRecord.Outcome.APPLIED)
                        .about(claim.id())
                        .moved(claim.state(), state, claim.generation() + 1)
                        .note(why.code())
                        .build());
        return true;
    }

    /**
     * In the session's transaction: owners died without progress as often as is allowed, so that the definition may be killing its
     * process (RB-5).
     *
     * @return what is to be published once it is durable; null when the row has moved on
     */
    @Nullable
    BackfillEvent exhaust(Session session, Candidate candidate) throws SQLException {
        Diagnostic why = Diagnostic.of(
                DiagnosticCode.OWNER_LOST_REPEATEDLY,
                candidate.attempts() + " owners died or lost their claim without committed progress. "
                        + DiagnosticCode.OWNER_LOST_REPEATEDLY.remedy(),
                null);
        Long generation = outcomes.exhaust(session, candidate.id(), why);
        if (generation == null) {
            return null;
        }
        BackfillId id = BackfillId.of(candidate.id());
        audit.write(
                session,
                AuditRecord.of(ENGINE, "fail", AuditRecord.Outcome.APPLIED)
                        .about(id)
                        .moved(null, BackfillState.FAILED, generation)
                        .note(why.code())
                        .build());
        return BackfillEvent.of(BackfillEvent.Kind.FAILED, id, generation, why.code())
                .by(candidate.lostOwner());
    }

    private Step recorded(Claim claim, Decision decision) {
        Diagnostic why = decision.diagnostic();
        BackfillEvent.Kind kind = switch (decision.kind()) {
            case RETRY, RETRY_CONTENTION -> BackfillEvent.Kind.RETRY_SCHEDULED;
            case NARROW -> BackfillEvent.Kind.NARROWED;
            case BLOCK -> BackfillEvent.Kind.BLOCKED;
            case FAIL -> BackfillEvent.Kind.FAILED;
        };
        events.publish(Events.about(kind, claim, why.code()), "sql_state", why.sqlState());
        return switch (decision.kind()) {
            // The smaller window is tried at once, under the same claim.
            case NARROW -> Step.done(new StepOutcome.Retrying(claim.id(), why), null);
            case RETRY, RETRY_CONTENTION -> Step.over(new StepOutcome.Retrying(claim.id(), why));
            case BLOCK -> Step.over(new StepOutcome.Ended(claim.id(), BackfillState.BLOCKED, why));
            case FAIL -> Step.over(new StepOutcome.Ended(claim.id(), BackfillState.FAILED, why));
        };
    }
}
