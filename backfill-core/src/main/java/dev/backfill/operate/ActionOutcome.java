package dev.backfill.operate;

import java.util.List;

/**
 * What became of a start, pause, resume or retry.
 *
 * @since 0.1
 */
public sealed interface ActionOutcome {

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
            implements ActionOutcome {
        /** Copies the findings. */
        public Conflict {
            findings = List.copyOf(findings);
        }
    }

    /** Authorized, but no such backfill. */
    record UnknownId() implements ActionOutcome {}

    /** Not authorized; says nothing about the ID (AU-4). */
    record Denied() implements ActionOutcome {}

    /**
     * Nothing was stored or changed, as far as is known; the same request is safe to repeat, and then learns what became of it.
     *
     * @param reason why
     * @param message for people
     */
    record Unavailable(BackfillUnavailableException.Reason reason, String message) implements ActionOutcome {}
}
