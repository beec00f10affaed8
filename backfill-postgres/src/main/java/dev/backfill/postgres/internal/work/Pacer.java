package dev.backfill.postgres.internal.work;

import dev.backfill.Pacing;
import dev.backfill.postgres.internal.batch.Cost;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How large the next window is and how long to rest before it. Holds nothing that matters: a new owner starts at the declared size.
 * Confined to a worker.
 */
public final class Pacer {

    private static final double LONGEST_REST_SECONDS = 365.0 * 24 * 3600;
    private static final long REREAD_NANOS = Duration.ofSeconds(1).toNanos();

    private final int declared;
    private int limit;
    // Grows back only after the window that was too large has been passed.
    private int keysUntilGrowth;
    private Pacing pacing = Pacing.unlimited();
    private @Nullable Cost last;
    private long ended;
    private long pacedAt;
    private @Nullable String restsFor;

    Pacer(int declared) {
        this.declared = declared;
        this.limit = declared;
    }

    /** The most keys of the next window; never above the declared maximum (BB-1). */
    int limit() {
        return limit;
    }

    /** What is in force, as far as known here. */
    Pacing pacing() {
        return pacing;
    }

    /** A rest has this cause; whether the worker did not rest for it already. */
    boolean restsFor(String cause) {
        boolean another = !cause.equals(restsFor);
        restsFor = cause;
        return another;
    }

    /** No rest is due. */
    void works() {
        restsFor = null;
    }

    /** Half as many keys, because some of the window can't be repaired or took too long. */
    void narrow(int failedWindow) {
        keysUntilGrowth = Math.max(keysUntilGrowth, failedWindow);
        limit = Math.max(1, Math.min(limit, failedWindow) / 2);
    }

    /** After a committed batch: adapts the size and sets the rest. */
    void committed(Pacing inForce, Cost cost) {
        keysUntilGrowth = (int) Math.max(0, keysUntilGrowth - cost.scanned());
        Duration target = inForce.targetBatchTime();
        Duration took = cost.took();
        if (target != null && took.compareTo(target) > 0) {
            limit = Math.max(1, limit / 2);
        } else if (keysUntilGrowth == 0
                && limit < declared
                && (target == null || took.multipliedBy(2).compareTo(target) < 0)) {
            limit = (int) Math.min(declared, limit * 2L);
        }
        last = cost;
        ended = System.nanoTime();
        repace(inForce);
    }

    /** Another pacing is in force, for the rest that is under way too. */
    void repace(Pacing inForce) {
        pacing = inForce;
        pacedAt = System.nanoTime();
    }

    /** Whether the pacing was read so long ago that an operator may have changed it. */
    boolean mayHaveChanged() {
        return System.nanoTime() - pacedAt >= REREAD_NANOS;
    }

    /** How long to rest still; null when the next batch may begin. */
    @Nullable
    Duration rest() {
        Cost cost = last;
        if (cost == null) {
            return null;
        }
        long left = restAfter(pacing, cost).toNanos() - (System.nanoTime() - ended);
        return left <= 0 ? null : Duration.ofNanos(left);
    }

    /** The longest rest that any of the limits asks for after a batch. */
    static Duration restAfter(Pacing pacing, Cost cost) {
        double took = cost.took().toNanos() / 1e9;
        double rest = 0;
        if (pacing.pauseRatio() != null) {
            rest = took * pacing.pauseRatio();
        }
        if (pacing.rowsPerSecond() != null) {
            rest = Math.max(rest, (double) cost.scanned() / pacing.rowsPerSecond() - took);
        }
        if (pacing.walBytesPerSecond() != null) {
            rest = Math.max(rest, (double) cost.walBytes() / pacing.walBytesPerSecond() - took);
        }
        // Whoever rests looks at the pace again meanwhile; a year does not overflow.
        return Duration.ofNanos((long) (Math.min(rest, LONGEST_REST_SECONDS) * 1e9));
    }
}
