package dev.backfill.operate;

import dev.backfill.BackfillId;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import java.time.Instant;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Every backfill and what keeps readiness closed, from one moment of PostgreSQL.
 *
 * @param asOf that moment, by PostgreSQL's clock
 * @param required the backfills that this process requires, each part of a family by itself; empty in manual mode (CF)
 * @param closedBy the required ones that keep this process from being ready
 * @param backfills every row that this library can read, by ID
 * @param unreadable rows that it can't read at all
 * @since 0.1
 */
public record Overview(
        Instant asOf,
        List<BackfillId> required,
        List<Closing> closedBy,
        List<BackfillSnapshot> backfills,
        List<Unreadable> unreadable) {
    /** Copies the lists. */
    public Overview {
        required = List.copyOf(required);
        closedBy = List.copyOf(closedBy);
        backfills = List.copyOf(backfills);
        unreadable = List.copyOf(unreadable);
    }

    /** Whether this process requires backfills at all. */
    public boolean isAutomatic() {
        return !required.isEmpty();
    }

    /** Whether no required backfill keeps this process from being ready; {@code Readiness} also asks for database and schema. */
    public boolean isOpen() {
        return closedBy.isEmpty();
    }

    /**
     * A required backfill that is not completed, or not as this process requires it.
     *
     * @param id which
     * @param state its state
     * @param knownHere whether this process can read what was done
     * @param diagnostic why it stands still; null where it does not, or can't be read
     */
    public record Closing(
            BackfillId id,
            BackfillState state,
            boolean knownHere,
            @Nullable Diagnostic diagnostic) {

        /** One word: {@code unknown_here}, else the code of the diagnostic, else the name of the state. */
        public String code() {
            if (!knownHere) {
                return ConflictCode.UNKNOWN_HERE.wireName();
            }
            return diagnostic == null ? state.wireName() : diagnostic.code();
        }
    }

    /**
     * A row that this library can't read, for instance because a newer one wrote a state that it does not know.
     *
     * @param id whose row
     * @param why what it can't read, and what to do
     */
    public record Unreadable(BackfillId id, String why) {}
}
