package dev.backfill.operate;

import dev.backfill.operate.Preflight.Finding;
import java.util.List;
import java.util.Locale;
import java.util.function.Function;

/**
 * What became of a start, pause, resume or retry. Who may not ask, an unknown ID and a database that can't be used are exceptions, as
 * they are for reads; see {@link BackfillOperations}.
 *
 * @since 0.1
 */
public sealed interface ActionOutcome {

    /** Calls the function of the case at hand; adding a case breaks every caller at compile time. */
    <T> T match(
            Function<? super Applied, ? extends T> applied,
            Function<? super Converged, ? extends T> converged,
            Function<? super Conflict, ? extends T> conflict);

    /**
     * The transition happened, now or when this request first came.
     *
     * @param now the current row, whatever happened since
     * @param replayed whether this is the stored answer of an earlier copy of the request
     */
    record Applied(BackfillSnapshot now, boolean replayed) implements ActionOutcome {
        @Override
        public <T> T match(
                Function<? super Applied, ? extends T> applied,
                Function<? super Converged, ? extends T> converged,
                Function<? super Conflict, ? extends T> conflict) {
            return applied.apply(this);
        }
    }

    /**
     * What was asked already held.
     *
     * @param now the current row
     * @param replayed whether this is the stored answer of an earlier copy of the request
     */
    record Converged(BackfillSnapshot now, boolean replayed) implements ActionOutcome {
        @Override
        public <T> T match(
                Function<? super Applied, ? extends T> applied,
                Function<? super Converged, ? extends T> converged,
                Function<? super Conflict, ? extends T> conflict) {
            return converged.apply(this);
        }
    }

    /**
     * Refused, with the reason and the current row (IK-4). What every control answers then, those that move no state included.
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

        @Override
        public <T> T match(
                Function<? super Applied, ? extends T> applied,
                Function<? super Converged, ? extends T> converged,
                Function<? super Conflict, ? extends T> conflict) {
            return conflict.apply(this);
        }
    }

    /**
     * Why a request was refused.
     */
    enum ConflictCode {
        /** The state does not allow the action. */
        ILLEGAL_TRANSITION,
        /** The request ID was used for another action, backfill or actor (IK-3). */
        REQUEST_ID_REUSED,
        /** This process has no definition of that ID, which start and validate need, or can't read its row (ID-5). */
        UNKNOWN_HERE,
        /** A table or column that the definition needs is missing or of another type (CF-8). */
        INCOMPATIBLE_SCHEMA,
        /** Preflight found errors. */
        PREFLIGHT_FAILED,
        /** The row has moved on since the generation on which the request was decided (CL-3). */
        GENERATION_CONFLICT;

        /** The name in the HTTP API and the audit. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
