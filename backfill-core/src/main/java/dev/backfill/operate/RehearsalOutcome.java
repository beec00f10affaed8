package dev.backfill.operate;

import java.util.function.Function;

/**
 * What became of a request to rehearse.
 *
 * @since 0.1
 */
public sealed interface RehearsalOutcome {

    /** Calls the function of the case at hand; adding a case breaks every caller at compile time. */
    <T> T match(Function<? super Rehearsed, ? extends T> rehearsed, Function<? super Refused, ? extends T> refused);

    /**
     * It ran, and everything was rolled back.
     *
     * @param report what was seen
     */
    record Rehearsed(Rehearsal report) implements RehearsalOutcome {
        @Override
        public <T> T match(
                Function<? super Rehearsed, ? extends T> rehearsed, Function<? super Refused, ? extends T> refused) {
            return rehearsed.apply(this);
        }
    }

    /**
     * It did not run.
     *
     * @param conflict why
     */
    record Refused(ActionOutcome.Conflict conflict) implements RehearsalOutcome {
        @Override
        public <T> T match(
                Function<? super Rehearsed, ? extends T> rehearsed, Function<? super Refused, ? extends T> refused) {
            return refused.apply(this);
        }
    }
}
