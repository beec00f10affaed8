package dev.backfill.spi;

import dev.backfill.host.HealthLimits;
import dev.backfill.operate.HealthSignal;

/**
 * A health signal of the host's own, for instance the p99 of its requests. Asked between batches on worker threads, without
 * a transaction open, at most once per {@link HealthLimits#every()} for each backfill, and on the caller's thread whenever a pace is
 * read or set; so by several threads at once. Must answer fast and be thread-safe. A probe that throws counts as not available.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface HealthProbe {

    /** Measures now. */
    HealthSignal measure();
}
