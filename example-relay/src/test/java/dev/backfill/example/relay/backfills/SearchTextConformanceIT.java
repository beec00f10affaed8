package dev.backfill.example.relay.backfills;

import dev.backfill.BackfillDefinition;
import dev.backfill.testkit.conformance.DefinitionConformance;
import java.sql.Connection;
import java.util.UUID;

class SearchTextConformanceIT extends DefinitionConformance<UUID> {

    @Override
    protected BackfillDefinition<UUID> definition() {
        return SearchText.definition();
    }

    @Override
    protected void seed(Connection database) throws Exception {
        SmallHistory.seed(database);
    }
}
