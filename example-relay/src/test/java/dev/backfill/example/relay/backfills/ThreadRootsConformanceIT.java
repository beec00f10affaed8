package dev.backfill.example.relay.backfills;

import dev.backfill.BackfillDefinition;
import dev.backfill.testkit.conformance.DefinitionConformance;
import java.sql.Connection;

// region conformance
class ThreadRootsConformanceIT extends DefinitionConformance<Long> {

    @Override
    protected BackfillDefinition<Long> definition() {
        return ThreadRoots.definition();
    }

    @Override
    protected void seed(Connection database) throws Exception {
        SmallHistory.seed(database);
    }
}
// endregion
