package dev.backfill;

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
