package dev.backfill.postgres.internal.work;

import dev.backfill.host.StepOutcome;
import dev.backfill.operate.Waiting;
import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.ClaimSql;
import dev.backfill.spi.BackfillEvent;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews a claim and gives it back. A batch renews by its commit; whatever holds a claim for longer renews here. Thread-safe.
 *
 * @param transactions short ones
 * @param claims the statements
 * @param events who hears of it
 * @param losses what is said of a lost claim
 * @param lease how long a claim lasts
 */
public record ClaimKeeper(
        Transactions transactions, ClaimSql claims, Events events, LostClaimDiagnosis losses, Duration lease) {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    /** Waits under the claim, and says in the row why; renews well before half of the lease is over. */
    Step waits(HeldClaim held, Waiting.Reason reason, String detail, boolean atOnce) {
        if (!atOnce && System.nanoTime() - held.renewedAt() <= renewalEvery().toNanos()) {
            return Step.waits(new StepOutcome.Waits(held.id(), reason), held);
        }
        try {
            if (!renew(held.claim(), reason.wireName(), detail)) {
                return losses.notMine(held.claim());
            }
            return Step.waits(new StepOutcome.Waits(held.id(), reason), held.with(held.claim()));
        } catch (SQLException e) {
            return Step.unavailable(held.id(), "The claim of backfill " + held.id() + " could not be renewed.")
                    .keeping(held);
        }
    }

    /** How often whoever holds a claim looks after it, at least. */
    Duration renewalEvery() {
        return lease.dividedBy(4);
    }

    /**
     * Renews once.
     *
     * @param reason what the claim waits for; null when it is worked under
     * @return false only when PostgreSQL says that the claim is not ours any more
     */
    boolean renew(Claim claim, @Nullable String reason, @Nullable String detail) throws SQLException {
        boolean renewed = transactions.inTransaction(s -> claims.renew(s, claim, lease, reason, detail));
        if (renewed) {
            events.publish(BackfillEvent.Kind.RENEWED, claim, null);
        }
        return renewed;
    }

    /** Gives the claim back, at no charge (RB-5). One that can't be given back lapses with its lease. */
    void release(Claim claim) {
        try {
            if (transactions.inTransaction(s -> claims.release(s, claim))) {
                events.publish(BackfillEvent.Kind.RELEASED, claim, null);
            }
        } catch (SQLException e) {
            LOG.atInfo()
                    .addKeyValue("backfill", claim.id())
                    .log("A claim could not be released; it lapses with its lease");
        }
    }
}
