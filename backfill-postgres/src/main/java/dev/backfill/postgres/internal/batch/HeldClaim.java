package dev.backfill.postgres.internal.batch;

import dev.backfill.BackfillId;
import dev.backfill.postgres.internal.row.Claim;

/**
 * A claim with the definition it is worked by.
 *
 * @param claim the claim as it is now
 * @param prepared the definition
 * @param renewedAt when its lease last began anew, by this machine's clock
 */
public record HeldClaim(Claim claim, PreparedDefinition prepared, long renewedAt) {

    /** The backfill. */
    public BackfillId id() {
        return claim.id();
    }

    /** The same after its row was written under this claim. */
    public HeldClaim with(Claim now) {
        return new HeldClaim(now, prepared, System.nanoTime());
    }
}
