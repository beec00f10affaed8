package dev.backfill.postgres.conformance;

import dev.backfill.BackfillDefinition;

/** The kit finds nothing wrong with a custom repair that does everything right. */
class CustomDefinitionIT extends Items {

    @Override
    protected BackfillDefinition<Long> definition() {
        return repairedBy((batch, tx) -> lockComputeWrite(batch, tx.connection()));
    }
}
