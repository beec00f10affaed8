package dev.backfill.operate;

import java.util.List;
import java.util.function.Function;

/**
 * What became of a start, pause, resume or retry.
 *
 * @since 0.1
 */
public sealed interface ActionOutcome {

    /** Calls the function of the case at hand; adding a case breaks every caller at compile time. */
    default <T> T match(
            Function<? super Applied, ? extends T> applied,
            Function<? super Converged, ? extends T> converged,
            Function<? super Refusal, ? extends T> refused) {
        if (this instanceof Applied done) {
            return applied.apply(done);
        }
        return this instanceof Converged held ? converged.apply(held) : refused.apply((Refusal) this);
    }

    /** Nothing was done. What every control answers then, those that move no state included. */
    sealed interface Refusal extends ActionOutcome {

        /** Calls the function of the case at hand; adding a case breaks every caller at compile time. */
        default <T> T match(
                Function<? super Conflict, ? extends T> conflict,
                Function<? super UnknownId, ? extends T> unknownId,
                Function<? super Denied, ? extends T> denied,
                Function<? super Unavailable, ? extends T> unavailable) {
            if (this instanceof Conflict found) {
                return conflict.apply(found);
            }
            if (this instanceof UnknownId unknown) {
                return unknownId.apply(unknown);
            }
            return this instanceof Denied no ? denied.apply(no) : unavailable.apply((Unavailable) this);
        }
    }

    /**
     * The transition happened, now or when this request first came.
     *
     * @param now the current row, whatever happened since
     * @param replayed whether this is the stored answer of an earlier copy of the request
     */
    record Applied(BackfillSnapshot now, boolean replayed) implements ActionOutcome {}

    /**
     * What was asked already held.
     *
     * @param now the current row
     * @param replayed whether this is the stored answer of an earlier copy of the request
     */
    record Converged(BackfillSnapshot now, boolean replayed) implements ActionOutcome {}

    /**
     * Refused, with the reason and the current row (IK-4).
     *
     * @param code the reason
     * @param now the current row
     * @param findings what preflight or the schema check found; empty for other codes
     * @param replayed whether this is the stored answer of an earlier copy of the request
     */
    record Conflict(ConflictCode code, BackfillSnapshot now, List<Finding> findings, boolean replayed)
            implements Refusal {
        /** Copies the findings. */
        public Conflict {
            findings = List.copyOf(findings);
        }
    }

    /** Authorized, but no such backfill. */
    record UnknownId() implements Refusal {}

    /** Not authorized; says nothing about the ID (AU-4). */
    record Denied() implements Refusal {}

    /**
     * Nothing was stored or changed, as far as is known; the same request is safe to repeat, and then learns what became of it.
     *
     * @param reason why
     * @param message for people
     */
    record Unavailable(BackfillUnavailableException.Reason reason, String message) implements Refusal {}
}
