package dev.backfill.postgres.internal.work;

import dev.backfill.BackfillId;
import dev.backfill.postgres.internal.batch.PreparedDefinition;
import dev.backfill.postgres.internal.row.Claim;

/**
 * A claim with the definition it is worked by.
 *
 * @param claim the claim as it is now
 * @param prepared the definition
 */
public record HeldClaim(Claim claim, PreparedDefinition prepared) {

    BackfillId id() {
        return claim.id();
    }

    HeldClaim with(Claim now) {
        return new HeldClaim(now, prepared);
    }
}
