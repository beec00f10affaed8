package dev.backfill.operate;

import dev.backfill.internal.BoundedText;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One measurement of how the database fares under a backfill. What could not be measured is not available, never healthy (RM-2).
 *
 * @param name one word of a fixed vocabulary, for instance {@code replica_lag}; lower case letters, digits and underscores
 * @param value what was measured; null when it is not available
 * @param limit above which work is throttled; null when it is only shown
 * @param unit of value and limit
 * @param source where the value comes from, or why there is none
 * @since 0.1
 */
public record HealthSignal(
        String name, @Nullable Double value, @Nullable Double limit, String unit, String source) {

    /** How a signal stands. */
    public enum Status {
        /** Measured and at or below its limit. */
        WITHIN_LIMIT,
        /** Measured and above its limit: work is throttled. */
        ABOVE_LIMIT,
        /** Measured, and there is no limit. */
        NO_LIMIT,
        /** Not measured. */
        NOT_AVAILABLE;

        /** The name in the HTTP API. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** Checks the name and bounds the texts. */
    public HealthSignal {
        if (!name.matches("[a-z][a-z0-9_]{0,39}")) {
            throw new IllegalArgumentException("the name of a health signal is 1 to 40 characters of a-z 0-9 _, got '"
                    + BoundedText.clean(name, 60) + "'");
        }
        unit = BoundedText.clean(unit, 40);
        source = BoundedText.clean(source, 200);
    }

    /** A signal that could not be measured. */
    public static HealthSignal notAvailable(String name, @Nullable Double limit, String unit, String why) {
        return new HealthSignal(name, null, limit, unit, why);
    }

    /** How it stands. */
    public Status status() {
        if (value == null || value.isNaN()) {
            return Status.NOT_AVAILABLE;
        }
        if (limit == null) {
            return Status.NO_LIMIT;
        }
        return value > limit ? Status.ABOVE_LIMIT : Status.WITHIN_LIMIT;
    }
}
