package dev.backfill.postgres.internal.supervise;

import java.time.Duration;

/**
 * How long code may take.
 *
 * @param patience until its thread is interrupted
 * @param grace how long it then has to heed the interrupt
 */
public record Deadline(Duration patience, Duration grace) {}
