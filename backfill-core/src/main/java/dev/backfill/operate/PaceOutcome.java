package dev.backfill.operate;

import java.util.function.Function;

/**
 * What became of a request to change the pace.
 *
 * @since 0.1
 */
public sealed interface PaceOutcome {

    /** Calls the function of the case at hand; adding a case breaks every caller at compile time. */
    <T> T match(Function<? super InForce, ? extends T> inForce, Function<? super Refused, ? extends T> refused);

    /**
     * It was stored, now or when this request first came.
     *
     * @param now the pace in force, whatever happened since
     * @param replayed whether an earlier copy of the request stored it
     */
    record InForce(Pace now, boolean replayed) implements PaceOutcome {
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
    record Refused(ActionOutcome.Conflict conflict) implements PaceOutcome {
        @Override
        public <T> T match(
                Function<? super InForce, ? extends T> inForce, Function<? super Refused, ? extends T> refused) {
            return refused.apply(this);
        }
    }
}
