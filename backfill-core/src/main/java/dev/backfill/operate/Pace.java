package dev.backfill.operate;

import dev.backfill.Pacing;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * How hard a backfill may press at this moment, and how the database fares.
 *
 * @param pacing what is in force; unlimited where the definition's own is, and this process does not have the definition
 * @param byOperator whether an operator set it; otherwise it is the definition's own
 * @param setBy who set it; null where nobody is named
 * @param setAt when; null for the definition's own
 * @param signals the health signals, measured for this answer; none in a process that does not have the definition
 * @since 0.1
 */
public record Pace(
        Pacing pacing,
        boolean byOperator,
        @Nullable String setBy,
        @Nullable Instant setAt,
        List<HealthSignal> signals) {

    /** Copies the signals. */
    public Pace {
        signals = List.copyOf(signals);
    }
}
