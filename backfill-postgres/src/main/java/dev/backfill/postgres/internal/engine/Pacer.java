package dev.backfill.postgres.internal.engine;

import dev.backfill.Pacing;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How large the next window is and how long to rest before it. Holds nothing that matters: a new owner starts at the declared size.
 * Confined to a worker.
 */
final class Pacer {

    private final int declared;
    private int limit;
    // Grows back only after the window that was too large has been passed.
    private int keysUntilGrowth;
    private long restUntil;

    Pacer(int declared) {
        this.declared = declared;
        this.limit = declared;
    }

    /** The most keys of the next window; never above the declared maximum (BB-1). */
    int limit() {
        return limit;
    }

    /** Half as many keys, because some of the window can't be repaired or took too long. */
    void narrow(int failedWindow) {
        keysUntilGrowth = Math.max(keysUntilGrowth, failedWindow);
        limit = Math.max(1, Math.min(limit, failedWindow) / 2);
    }

    /** After a committed batch: adapts the size and sets the rest. */
    void committed(Pacing pacing, Duration took, long scanned) {
        keysUntilGrowth = (int) Math.max(0, keysUntilGrowth - scanned);
        Duration target = pacing.targetBatchTime();
        if (target != null && took.compareTo(target) > 0) {
            limit = Math.max(1, limit / 2);
        } else if (keysUntilGrowth == 0
                && limit < declared
                && (target == null || took.multipliedBy(2).compareTo(target) < 0)) {
            limit = (int) Math.min(declared, limit * 2L);
        }
        restUntil = System.nanoTime() + rest(pacing, took, scanned).toNanos();
    }

    /** How long to rest still; null when the next batch may begin. */
    @Nullable
    Duration rest() {
        long left = restUntil - System.nanoTime();
        return restUntil == 0 || left <= 0 ? null : Duration.ofNanos(left);
    }

    private static Duration rest(Pacing pacing, Duration took, long scanned) {
        Duration rest = Duration.ZERO;
        if (pacing.pauseRatio() != null) {
            rest = Duration.ofNanos((long) (took.toNanos() * pacing.pauseRatio()));
        }
        if (pacing.rowsPerSecond() != null) {
            Duration due = Duration.ofNanos((long) (scanned * 1e9 / pacing.rowsPerSecond()))
                    .minus(took);
            rest = due.compareTo(rest) > 0 ? due : rest;
        }
        return rest;
    }
}
