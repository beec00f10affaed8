package dev.backfill.postgres.internal.work;

import dev.backfill.BackfillDefinition;
import dev.backfill.Pacing;
import dev.backfill.postgres.internal.batch.Cost;
import dev.backfill.postgres.internal.batch.WindowSize;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How large the next window is, how far it looks for rows that need the repair, and how long to rest before it. Holds nothing that matters: a new owner starts at the declared size.
 * Confined to a worker.
 */
public final class Pacer {

    private static final double LONGEST_REST_SECONDS = 365.0 * 24 * 3600;
    private static final long REREAD_NANOS = Duration.ofSeconds(1).toNanos();

    private static final int MOST_KEYS = BackfillDefinition.MAX_BATCH_SIZE;
    private static final Duration LOOK_TARGET = Duration.ofMillis(100);
    private static final int GROWTH = 4;
    // Of more rows than one in so many, a window over each key is the faster one.
    private static final int SPARSE = 4;

    private final int declared;
    private final boolean looksFurther;
    private boolean byIndex;
    private boolean indexIsSlow;
    // The index comes back only after the rows in need that the failed window held.
    private long changesUntilIndex;
    private int limit;
    private int keys;
    // Grows back only after the window that was too large has been passed.
    private int keysUntilGrowth;
    private Pacing pacing = Pacing.unlimited();
    private @Nullable Cost last;
    private long begun;
    private long waitsSince;
    private long ended;
    private long pacedAt;
    private @Nullable String restsFor;

    /**
     * Begins at the declared size.
     *
     * @param declared the most rows of a window
     * @param looksFurther whether a window may look at more keys than that
     */
    Pacer(int declared, boolean looksFurther) {
        this.declared = declared;
        this.looksFurther = looksFurther;
        this.limit = declared;
        this.keys = declared;
    }

    /** The bounds of the next window; its rows are never above the declared maximum (BB-1). */
    WindowSize size() {
        // The longer look of a claim that may walk an index reads through that: until it does, there is none.
        return new WindowSize(limit, byIndex && !usesIndex() ? limit : Math.max(limit, keys), usesIndex());
    }

    private boolean usesIndex() {
        return byIndex && !indexIsSlow && changesUntilIndex == 0 && keysUntilGrowth == 0;
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

    /** Whether it has waited for longer than that, by all claims since the last batch. */
    boolean hasWaited(Duration moment) {
        long now = System.nanoTime();
        waitsSince = waitsSince == 0 ? now : waitsSince;
        return now - waitsSince >= moment.toNanos();
    }

    /** A batch has begun or a validation was run: whatever it waited for is over. */
    void hasBegun() {
        waitsSince = 0;
    }

    /** A batch is tried. */
    void begin() {
        begun = System.nanoTime();
    }

    /** How long ago the last batch began. */
    Duration sinceBegun() {
        return Duration.ofNanos(System.nanoTime() - begun);
    }

    /** Whether an index names the rows that need the repair, as the claim has found out. */
    void walks(boolean index) {
        byIndex = index;
    }

    /**
     * Half as many rows, because some of the window can't be repaired or took too long; at first without the longer look.
     *
     * @param tooSlow whether it took too long: an index that was to spare time is not tried again
     */
    void narrow(WindowSize failed, boolean tooSlow) {
        indexIsSlow |= failed.byIndex() && tooSlow;
        changesUntilIndex = failed.byIndex() ? failed.keys() : changesUntilIndex;
        keysUntilGrowth = Math.max(keysUntilGrowth, failed.keys());
        limit = failed.looksFurther() ? limit : Math.max(1, Math.min(limit, failed.rows()) / 2);
        keys = limit;
    }

    /** After a committed batch: adapts the size and sets the rest. */
    void committed(Pacing inForce, Cost cost) {
        keysUntilGrowth = (int) Math.max(0, keysUntilGrowth - cost.scanned());
        changesUntilIndex = Math.max(0, changesUntilIndex - cost.changed());
        if (keys <= limit) {
            resize(inForce, cost);
        }
        if (looksFurther && cost.scanned() > 0) {
            look(inForce, cost);
        }
        last = cost;
        ended = System.nanoTime();
        repace(inForce);
    }

    private void resize(Pacing inForce, Cost cost) {
        Duration target = inForce.targetBatchTime();
        Duration took = cost.took();
        if (target != null && took.compareTo(target) > 0) {
            limit = Math.max(1, limit / 2);
        } else if (keysUntilGrowth == 0
                && limit < declared
                && (target == null || took.multipliedBy(2).compareTo(target) < 0)) {
            limit = (int) Math.min(declared, limit * 2L);
        }
    }

    /** As many keys as hold a window's rows, if the next are like the last ones, within the time and the pace that a batch has. */
    private void look(Pacing inForce, Cost cost) {
        Duration aim = inForce.targetBatchTime() == null ? LOOK_TARGET : inForce.targetBatchTime();
        long now = size().keys();
        // One that ended before its last key was full, whatever it has changed.
        long fit = cost.scanned() < now ? cost.scanned() : cost.scanned() * limit / Math.max(1, cost.changed());
        long most = inForce.rowsPerSecond() == null ? MOST_KEYS : Math.min(MOST_KEYS, inForce.rowsPerSecond());
        if (cost.took().compareTo(aim) > 0) {
            most = Math.min(most, now / 2);
        } else if (cost.took().multipliedBy(2).compareTo(aim) > 0) {
            most = Math.min(most, now);
        }
        boolean sparse = byIndex ? usesIndex() : keysUntilGrowth == 0 && fit >= (long) SPARSE * limit;
        keys = sparse ? (int) Math.max(limit, Math.min(Math.min(fit, most), now * GROWTH)) : limit;
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
