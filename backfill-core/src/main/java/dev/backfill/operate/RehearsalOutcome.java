package dev.backfill.operate;

/**
 * What became of a request to rehearse.
 *
 * @since 0.1
 */
public sealed interface RehearsalOutcome {

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
    record Refused(ActionOutcome refusal) implements RehearsalOutcome {}
}
