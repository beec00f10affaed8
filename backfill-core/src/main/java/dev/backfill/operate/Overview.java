package dev.backfill.operate;

import java.time.Instant;
import java.util.List;

/**
 * Every backfill and the gate, from one moment of PostgreSQL.
 *
 * @param asOf that moment, by PostgreSQL's clock
 * @param gate the readiness gate of this process
 * @param backfills every row, by ID
 * @since 0.1
 */
public record Overview(Instant asOf, Gate gate, List<BackfillSnapshot> backfills) {
    /** Copies the list. */
    public Overview {
        backfills = List.copyOf(backfills);
    }
}
