package dev.backfill.operate;

import dev.backfill.BackfillId;
import java.util.List;

/**
 * The readiness gate of this process as PostgreSQL had it.
 *
 * @param automatic whether required backfills start and gate (CF)
 * @param open whether none stands in the way
 * @param required the required set
 * @param reasons what keeps it closed; empty when open
 * @since 0.1
 */
public record Gate(boolean automatic, boolean open, List<BackfillId> required, List<Reason> reasons) {
    /** Copies the lists. */
    public Gate {
        required = List.copyOf(required);
        reasons = List.copyOf(reasons);
    }

    /**
     * One required backfill that is not completed.
     *
     * @param id which
     * @param state its state
     * @param code the diagnostic code; {@code unknown_here} where this process can't read what was done; else the state's name
     */
    public record Reason(BackfillId id, BackfillState state, String code) {}
}
