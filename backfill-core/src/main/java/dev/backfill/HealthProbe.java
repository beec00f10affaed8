package dev.backfill;

/**
 * A health signal of the host's own, for instance the p99 of its requests. Asked between batches on a worker thread, without a
 * transaction open, at most once per {@link HealthLimits#every()}; must answer fast and be thread-safe. A probe that throws counts
 * as not available.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface HealthProbe {

    /** Measures now. */
    HealthSignal measure();
}
