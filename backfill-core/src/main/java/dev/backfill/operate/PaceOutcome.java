package dev.backfill.operate;

/**
 * What became of a request to change the pace.
 *
 * @since 0.1
 */
public sealed interface PaceOutcome {

    /**
     * It was stored, now or when this request first came.
     *
     * @param now the pace in force, whatever happened since
     * @param replayed whether an earlier copy of the request stored it
     */
    record InForce(Pace now, boolean replayed) implements PaceOutcome {}

    /**
     * Nothing was stored.
     *
     * @param refusal a conflict, an unknown ID, a denial or unavailability
     */
    record Refused(ActionOutcome refusal) implements PaceOutcome {}
}
