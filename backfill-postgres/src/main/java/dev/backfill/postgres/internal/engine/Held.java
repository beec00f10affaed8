package dev.backfill.postgres.internal.engine;

import dev.backfill.BackfillId;
import dev.backfill.postgres.internal.store.Claim;

/**
 * A claim with the definition it is worked by.
 *
 * @param claim the claim as it is now
 * @param prepared the definition
 */
record Held(Claim claim, PreparedDefinition prepared) {

    BackfillId id() {
        return claim.id();
    }

    Held with(Claim now) {
        return new Held(now, prepared);
    }
}
