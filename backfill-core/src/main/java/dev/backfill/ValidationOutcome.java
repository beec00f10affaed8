package dev.backfill;

import java.util.function.Function;

/**
 * What a validation found.
 *
 * @since 0.1
 */
public sealed interface ValidationOutcome {

    /** The postcondition holds through the bound. */
    static ValidationOutcome holds() {
        return new Holds();
    }

    /** The postcondition does not hold; the note is shown to operators: no row values. */
    static ValidationOutcome rejected(String note) {
        return new Rejected(note);
    }

    /** It can't be judged until a prerequisite is met (RB-6); the note says what an operator should do. */
    static ValidationOutcome prerequisiteUnmet(String note) {
        return new PrerequisiteUnmet(note);
    }

    /**
     * What the function of its case makes of it; a case that is added later breaks every caller at compile time.
     *
     * @param holds of one that holds
     * @param rejected of one that was rejected
     * @param unmet of one that can't be judged yet
     * @param <T> the result
     */
    default <T> T match(
            Function<? super Holds, ? extends T> holds,
            Function<? super Rejected, ? extends T> rejected,
            Function<? super PrerequisiteUnmet, ? extends T> unmet) {
        if (this instanceof Holds it) {
            return holds.apply(it);
        }
        return this instanceof Rejected it ? rejected.apply(it) : unmet.apply((PrerequisiteUnmet) this);
    }

    /** The postcondition holds. */
    record Holds() implements ValidationOutcome {}

    /**
     * The postcondition does not hold.
     *
     * @param note for operators, cut to 1 KiB and cleaned
     */
    record Rejected(String note) implements ValidationOutcome {}

    /**
     * A prerequisite is unmet.
     *
     * @param note for operators, cut to 1 KiB and cleaned
     */
    record PrerequisiteUnmet(String note) implements ValidationOutcome {}
}
