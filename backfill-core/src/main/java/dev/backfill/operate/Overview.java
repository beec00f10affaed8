package dev.backfill.operate;

import dev.backfill.BackfillId;
import java.time.Instant;
import java.util.List;

/**
 * Every backfill and the gate, from one moment of PostgreSQL.
 *
 * @param asOf that moment, by PostgreSQL's clock
 * @param gate the readiness gate of this process
 * @param backfills every row that this library can read, by ID
 * @param unreadable rows that it can't read at all
 * @since 0.1
 */
public record Overview(Instant asOf, Gate gate, List<BackfillSnapshot> backfills, List<Unreadable> unreadable) {
    /** Copies the lists. */
    public Overview {
        backfills = List.copyOf(backfills);
        unreadable = List.copyOf(unreadable);
    }

    /** Where every row can be read. */
    public Overview(Instant asOf, Gate gate, List<BackfillSnapshot> backfills) {
        this(asOf, gate, backfills, List.of());
    }

    /**
     * A row that this library can't read, for instance because a newer one wrote a state that it does not know.
     *
     * @param id whose row
     * @param why what it can't read, and what to do
     */
    public record Unreadable(BackfillId id, String why) {}
}
