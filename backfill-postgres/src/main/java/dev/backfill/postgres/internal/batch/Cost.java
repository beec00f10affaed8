package dev.backfill.postgres.internal.batch;

import java.time.Duration;

/**
 * What a batch cost.
 *
 * @param took its time
 * @param scanned its keys
 * @param changed rows changed
 * @param walBytes its WAL, at most; 0 where it was not measured
 */
public record Cost(Duration took, long scanned, long changed, long walBytes) {}
