package dev.backfill.example.relay.backfills;

import dev.backfill.BackfillDefinition;
import dev.backfill.CompoundKey;
import dev.backfill.testkit.conformance.DefinitionConformance;
import java.sql.Connection;

class ChannelRetentionConformanceIT extends DefinitionConformance<CompoundKey> {

    @Override
    protected BackfillDefinition<CompoundKey> definition() {
        return ChannelRetention.definition();
    }

    @Override
    protected void seed(Connection database) throws Exception {
        SmallHistory.seed(database);
    }
}
