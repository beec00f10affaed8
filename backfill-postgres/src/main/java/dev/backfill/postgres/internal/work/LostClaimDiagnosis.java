package dev.backfill.postgres.internal.work;

import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.postgres.internal.batch.BatchResult;
import dev.backfill.postgres.internal.batch.BreachException;
import dev.backfill.postgres.internal.batch.FenceSql.WindowCheck;
import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.ClaimSql;
import dev.backfill.postgres.internal.row.RowSql;
import dev.backfill.spi.BackfillEvent;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * After a guard refused, says which one, from the row (CL-6). Everything was rolled back before; this only reports. Thread-safe.
 */
public final class LostClaimDiagnosis {

    private final Transactions transactions;
    private final RowSql rows;
    private final ClaimSql claims;
    private final Events events;
    private final Duration transactionTimeout;

    /** Reads in those transactions. */
    public LostClaimDiagnosis(
            Transactions transactions, RowSql rows, ClaimSql claims, Events events, Duration transactionTimeout) {
        this.transactions = transactions;
        this.rows = rows;
        this.claims = claims;
        this.events = events;
        this.transactionTimeout = transactionTimeout;
    }

    /**
     * What was found.
     *
     * @param outcome what the step came to; null when the claim is still ours and the batch broke a rule
     * @param breach what the batch broke, for the failure policy; null when the claim is lost
     */
    record Found(@Nullable Step outcome, @Nullable Exception breach) {}

    /** What became of a claim that was not ours any more when its row was looked at or written. */
    Step notMine(Claim claim) {
        try {
            Step lost = lost(claim, transactions.inTransaction(s -> rows.read(s, claim.id())));
            // The row looks like ours, so it can only be the lease that had run out when it was asked.
            return lost != null ? lost : fenced(claim, "lease");
        } catch (SQLException e) {
            return unreadable(claim);
        }
    }

    /**
     * Looks at the row.
     *
     * @param missed the batch that missed
     */
    Found find(HeldClaim held, BatchResult.Missed missed) {
        Claim claim = held.claim();
        try {
            Optional<RowSql.Row> row = transactions.inTransaction(s -> rows.read(s, claim.id()));
            Step lost = lost(claim, row);
            return lost != null ? new Found(lost, null) : new Found(null, breach(held, missed));
        } catch (SQLException e) {
            return new Found(unreadable(claim), null);
        }
    }

    private static Step unreadable(Claim claim) {
        return Step.unavailable(
                claim.id(),
                "A guard refused work of backfill " + claim.id() + ", and its row could not be read to say which.");
    }

    private @Nullable Step lost(Claim claim, Optional<RowSql.Row> found) {
        if (found.isEmpty()) {
            return stopped(claim, null);
        }
        RowSql.Row row = found.get();
        if (!row.state().isWorking()) {
            return stopped(claim, row.state());
        }
        if (row.generation() != claim.generation()) {
            return fenced(claim, "generation");
        }
        if (!Objects.equals(row.token(), claim.token())) {
            return fenced(claim, "token");
        }
        if (!row.unexpired()) {
            return fenced(claim, "lease");
        }
        if (row.state() != claim.state()) {
            return stopped(claim, row.state());
        }
        if (!Objects.equals(row.rangeLow(), claim.rangeLow())) {
            return fenced(claim, "range");
        }
        return Objects.equals(row.checkpoint(), claim.checkpoint()) ? null : setBack(claim);
    }

    /** The claim is ours in a row that a failover or a restore set back: given up at once, so that nobody waits for its lease. */
    private Step setBack(Claim claim) {
        try {
            transactions.inTransaction(s -> claims.release(s, claim));
        } catch (SQLException e) {
            return unreadable(claim);
        }
        return fenced(claim, "checkpoint");
    }

    private Exception breach(HeldClaim held, BatchResult.Missed missed) throws SQLException {
        if (missed.took().compareTo(transactionTimeout) > 0) {
            return new SQLException("the batch outlived its limit", "57014");
        }
        List<String> checkpoint = missed.work().checkpoint();
        WindowCheck check = checkpoint == null
                ? new WindowCheck(true, true, null)
                : transactions.inTransaction(s -> held.prepared().fence().check(s, held.claim(), checkpoint));
        if (check.elsewhere() != null) {
            return BreachException.ofTarget(check.elsewhere());
        }
        if (!check.forward()) {
            return new BreachException(
                    DiagnosticCode.WINDOW_OUT_OF_ORDER, DiagnosticCode.WINDOW_OUT_OF_ORDER.meaning(), null);
        }
        if (!check.within()) {
            return new BreachException(
                    DiagnosticCode.WINDOW_BEYOND_BOUND, DiagnosticCode.WINDOW_BEYOND_BOUND.meaning(), null);
        }
        // Row, window and time are in order, so it is the transaction that is not the one that began.
        return new BreachException(
                DiagnosticCode.TRANSACTION_ENDED_INSIDE,
                "The transaction that reached the fence was not the one that the batch began.",
                null);
    }

    private Step stopped(Claim claim, @Nullable BackfillState now) {
        events.publish(BackfillEvent.Kind.STOPPED, claim, now == null ? "gone" : now.wireName());
        return Step.over(new StepOutcome.Stopped(claim.id(), now));
    }

    private Step fenced(Claim claim, String guard) {
        events.publish(BackfillEvent.Kind.FENCED, claim, guard);
        return Step.over(new StepOutcome.Fenced(claim.id(), guard));
    }
}
