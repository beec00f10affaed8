package dev.backfill.example.relay;

import dev.backfill.Authority;
import dev.backfill.Backfills;
import dev.backfill.Capability;
import dev.backfill.OperatorAuthorizer;
import dev.backfill.SchemaMode;
import dev.backfill.example.relay.backfills.RelayBackfills;
import dev.backfill.example.relay.backfills.ThreadRoots;
import dev.backfill.example.relay.database.RelaySchema;
import dev.backfill.postgres.PostgresBackfills;
import dev.backfill.postgres.observe.MicrometerBackfills;
import io.micrometer.core.instrument.MeterRegistry;

/** How the relay embeds the library: the whole of it. */
final class Engine {

    private Engine() {}

    // region startup
    static Backfills start(
            Pools pools,
            RelayOptions options,
            OperatorAuthorizer operators,
            MeterRegistry registry,
            String processName) {
        Backfills.Builder builder = PostgresBackfills.on(pools.engine())
                .definitions(RelayBackfills.all())
                .schema(options.autoMigrate() ? SchemaMode.MIGRATE : SchemaMode.VERIFY)
                .hostMigrations(new RelaySchema(pools.serving(), options.seedRows())::migrate)
                .options(options.engine())
                .processName(processName);
        if (options.autoBackfill()) {
            builder.requiredAtStartup(ThreadRoots.ID);
        }
        return measured(builder, operators, registry);
    }
    // endregion

    // region metrics
    private static final Authority METRICS = Authority.host("metrics");

    private static Backfills measured(Backfills.Builder builder, OperatorAuthorizer operators, MeterRegistry registry) {
        MicrometerBackfills metrics = MicrometerBackfills.in(registry);
        Backfills backfills = builder.listener(metrics)
                .operators(
                        (who, what) -> (what == Capability.READ && who.equals(METRICS)) || operators.permits(who, what))
                .startup();
        metrics.watch(backfills, METRICS); // gauges read as a host, and may only read
        return backfills;
    }
    // endregion
}
