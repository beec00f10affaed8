package dev.backfill.operate;

import java.util.function.Function;

/**
 * What became of a request to rehearse.
 *
 * @since 0.1
 */
public sealed interface RehearsalOutcome {

    /** Calls the function of the case at hand; adding a case breaks every caller at compile time. */
    default <T> T match(
            Function<? super Rehearsed, ? extends T> rehearsed, Function<? super Refused, ? extends T> refused) {
        if (this instanceof Rehearsed it) {
            return rehearsed.apply(it);
        }
        return refused.apply((Refused) this);
    }

    /**
     * It ran, and everything was rolled back.
     *
     * @param report what was seen
     */
    record Rehearsed(Rehearsal report) implements RehearsalOutcome {}

    /**
     * It did not run.
     *
     * @param refusal a conflict, an unknown ID, a denial or unavailability
     */
    record Refused(ActionOutcome.Refusal refusal) implements RehearsalOutcome {}
}
