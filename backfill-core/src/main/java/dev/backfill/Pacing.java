package dev.backfill;

import dev.backfill.internal.CheckReturnValue;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * How hard a backfill may press on live traffic: {@code Pacing.unlimited().pauseRatio(1.0).rowsPerSecond(5_000)}. A part that is not
 * named is unlimited. Of several limits the slowest wins. Immutable and thread-safe; each call returns a new value.
 *
 * @since 0.1
 */
@CheckReturnValue
public final class Pacing {

    private static final Pacing UNLIMITED = new Pacing(null, null, null, null);

    private final @Nullable Double pauseRatio;
    private final @Nullable Long rowsPerSecond;
    private final @Nullable Long walBytesPerSecond;
    private final @Nullable Duration targetBatchTime;

    private Pacing(
            @Nullable Double pauseRatio,
            @Nullable Long rowsPerSecond,
            @Nullable Long walBytesPerSecond,
            @Nullable Duration targetBatchTime) {
        this.pauseRatio = pauseRatio;
        this.rowsPerSecond = rowsPerSecond;
        this.walBytesPerSecond = walBytesPerSecond;
        this.targetBatchTime = targetBatchTime;
    }

    /** No limit. */
    public static Pacing unlimited() {
        return UNLIMITED;
    }

    /**
     * The same with a rest after each batch.
     *
     * @param ofBatchTime the rest as a multiple of the time the batch took; 0 to 100
     * @throws InvalidDefinitionException if out of range
     */
    public Pacing pauseRatio(double ofBatchTime) {
        if (!(ofBatchTime >= 0 && ofBatchTime <= 100)) {
            throw new InvalidDefinitionException("pauseRatio must be 0 to 100, got " + ofBatchTime + ".");
        }
        return new Pacing(ofBatchTime, rowsPerSecond, walBytesPerSecond, targetBatchTime);
    }

    /**
     * The same with a limit on the keys that are scanned.
     *
     * @param most keys per second; at least 1
     * @throws InvalidDefinitionException if out of range
     */
    public Pacing rowsPerSecond(long most) {
        return new Pacing(pauseRatio, atLeastOne("rowsPerSecond", most), walBytesPerSecond, targetBatchTime);
    }

    /**
     * The same with a limit on the WAL that batches write.
     *
     * @param most bytes per second; at least 1
     * @throws InvalidDefinitionException if out of range
     */
    public Pacing walBytesPerSecond(long most) {
        return new Pacing(pauseRatio, rowsPerSecond, atLeastOne("walBytesPerSecond", most), targetBatchTime);
    }

    /**
     * The same with a time that a batch should take: the batch size shrinks and grows back towards it, never above the declared maximum.
     *
     * @param each at least 1 ms
     * @throws InvalidDefinitionException if out of range
     */
    public Pacing targetBatchTime(Duration each) {
        if (Objects.requireNonNull(each, "targetBatchTime").toMillis() < 1) {
            throw new InvalidDefinitionException("targetBatchTime must be at least 1 ms, got " + each + ".");
        }
        return new Pacing(pauseRatio, rowsPerSecond, walBytesPerSecond, each);
    }

    private static long atLeastOne(String name, long value) {
        if (value < 1) {
            throw new InvalidDefinitionException(name + " must be at least 1, got " + value + ".");
        }
        return value;
    }

    /** The rest after each batch, as a multiple of the time the batch took; null for none. */
    public @Nullable Double pauseRatio() {
        return pauseRatio;
    }

    /** The most keys scanned per second; null for no limit. */
    public @Nullable Long rowsPerSecond() {
        return rowsPerSecond;
    }

    /** The most WAL written by batches per second, in bytes; null for no limit. */
    public @Nullable Long walBytesPerSecond() {
        return walBytesPerSecond;
    }

    /** The time a batch should take; null for no aim. */
    public @Nullable Duration targetBatchTime() {
        return targetBatchTime;
    }

    @Override
    public boolean equals(@Nullable Object other) {
        return other instanceof Pacing that
                && Objects.equals(pauseRatio, that.pauseRatio)
                && Objects.equals(rowsPerSecond, that.rowsPerSecond)
                && Objects.equals(walBytesPerSecond, that.walBytesPerSecond)
                && Objects.equals(targetBatchTime, that.targetBatchTime);
    }

    @Override
    public int hashCode() {
        return Objects.hash(pauseRatio, rowsPerSecond, walBytesPerSecond, targetBatchTime);
    }

    @Override
    public String toString() {
        return "Pacing[pauseRatio=" + pauseRatio + ", rowsPerSecond=" + rowsPerSecond + ", walBytesPerSecond="
                + walBytesPerSecond + ", targetBatchTime=" + targetBatchTime + "]";
    }
}
