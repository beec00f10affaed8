package dev.backfill.example.relay;

import dev.backfill.host.Backfills;
import dev.backfill.operate.Authority;
import dev.backfill.operate.Authority.Capability;
import dev.backfill.postgres.observe.MicrometerBackfills;
import dev.backfill.spi.BackfillListener;
import dev.backfill.spi.OperatorAuthorizer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;

// region metrics
/** The metrics of this process and their right to read rows. */
final class Metrics {

    private static final Authority READER = Authority.host("relay-metrics");

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final MicrometerBackfills backfills = MicrometerBackfills.in(registry);

    PrometheusMeterRegistry registry() {
        return registry;
    }

    BackfillListener listener() {
        return backfills;
    }

    /** Operators as before, and the gauges, which may read. */
    static OperatorAuthorizer alsoReading(OperatorAuthorizer operators) {
        return (authority, capability) ->
                authority.equals(READER) ? capability == Capability.READ : operators.permits(authority, capability);
    }

    void watch(Backfills engine) {
        backfills.watch(engine, READER);
    }
}
// endregion
