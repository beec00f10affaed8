package dev.backfill.example.relay.backfills;

import dev.backfill.BackfillDefinition;
import dev.backfill.testkit.conformance.DefinitionConformance;
import java.sql.Connection;

class EventCountsConformanceIT extends DefinitionConformance<Long> {

    @Override
    protected BackfillDefinition<Long> definition() {
        return EventCounts.definition();
    }

    @Override
    protected void seed(Connection database) throws Exception {
        SmallHistory.seed(database);
    }

    @Override
    protected boolean tellsDoneRows() {
        return false; // it adds
    }

    @Override
    protected boolean rowsAreIndependent() {
        return false; // a counter is made of many
    }
}
