package dev.backfill.example.relay;

import dev.backfill.example.relay.backfills.RelayBackfills;
import dev.backfill.example.relay.backfills.ThreadRoots;
import dev.backfill.example.relay.database.RelaySchema;
import dev.backfill.host.Backfills;
import dev.backfill.host.SchemaMode;
import dev.backfill.postgres.PostgresBackfills;
import dev.backfill.spi.OperatorAuthorizer;

/** How the relay embeds the library: the whole of it. */
final class Engine {

    private Engine() {}

    // region startup
    static Backfills start(
            Pools pools, RelayOptions options, OperatorAuthorizer operators, Metrics metrics, String processName) {
        Backfills.Builder builder = PostgresBackfills.on(pools.engine())
                .definitions(RelayBackfills.all())
                .schema(options.autoMigrate() ? SchemaMode.MIGRATE : SchemaMode.VERIFY)
                .hostMigrations(new RelaySchema(pools.serving(), options.seedRows())::migrate)
                .options(options.engine())
                .operators(Metrics.alsoReading(operators))
                .listener(metrics.listener())
                .processName(processName);
        if (options.autoBackfill()) {
            builder.requiredAtStartup(ThreadRoots.ID);
        }
        return builder.startup();
    }
    // endregion
}
