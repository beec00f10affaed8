package dev.backfill.operate;

import dev.backfill.Pacing;
import java.time.Instant;
import java.util.List;
import java.util.function.Function;
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

    /**
     * What became of a request to change the pace.
     */
    public sealed interface Outcome {

        /** Calls the function of the case at hand; adding a case breaks every caller at compile time. */
        <T> T match(Function<? super InForce, ? extends T> inForce, Function<? super Refused, ? extends T> refused);

        /**
         * It was stored, now or when this request first came.
         *
         * @param now the pace in force, whatever happened since
         * @param replayed whether an earlier copy of the request stored it
         */
        record InForce(Pace now, boolean replayed) implements Outcome {
            @Override
            public <T> T match(
                    Function<? super InForce, ? extends T> inForce, Function<? super Refused, ? extends T> refused) {
                return inForce.apply(this);
            }
        }

        /**
         * Nothing was stored.
         *
         * @param conflict why
         */
        record Refused(ActionOutcome.Conflict conflict) implements Outcome {
            @Override
            public <T> T match(
                    Function<? super InForce, ? extends T> inForce, Function<? super Refused, ? extends T> refused) {
                return refused.apply(this);
            }
        }
    }
}
