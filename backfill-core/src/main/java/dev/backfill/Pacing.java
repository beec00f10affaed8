package dev.backfill;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * How hard a backfill may press on live traffic. A null part is unlimited. Of several limits the slowest wins.
 *
 * @param pauseRatio rest after each batch, as a multiple of the time the batch took; 0 to 100
 * @param rowsPerSecond most keys scanned per second; at least 1
 * @param walBytesPerSecond most WAL written by batches per second, in bytes; at least 1
 * @param targetBatchTime the batch size shrinks and grows back towards this time, never above the declared maximum
 * @since 0.1
 */
public record Pacing(
        @Nullable Double pauseRatio,
        @Nullable Long rowsPerSecond,
        @Nullable Long walBytesPerSecond,
        @Nullable Duration targetBatchTime) {

    private static final Pacing NONE = new Pacing(null, null, null, null);

    /** Checks the ranges. */
    public Pacing {
        if (pauseRatio != null && !(pauseRatio >= 0 && pauseRatio <= 100)) {
            throw new InvalidDefinitionException("pauseRatio must be 0 to 100, got " + pauseRatio + ".");
        }
        if (rowsPerSecond != null && rowsPerSecond < 1) {
            throw new InvalidDefinitionException("rowsPerSecond must be at least 1, got " + rowsPerSecond + ".");
        }
        if (walBytesPerSecond != null && walBytesPerSecond < 1) {
            throw new InvalidDefinitionException(
                    "walBytesPerSecond must be at least 1, got " + walBytesPerSecond + ".");
        }
        if (targetBatchTime != null && targetBatchTime.toMillis() < 1) {
            throw new InvalidDefinitionException("targetBatchTime must be at least 1 ms, got " + targetBatchTime + ".");
        }
    }

    /** No limit. */
    public static Pacing unlimited() {
        return NONE;
    }
}
