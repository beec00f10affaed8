package dev.backfill.postgres.internal.batch;

import dev.backfill.postgres.internal.row.History;

/** The start barrier's condition (SR-6), for the statements that begin a batch or a validation. */
public final class BarrierSql {

    /**
     * Whether every transaction that had written before the bound was captured has ended: recorded by the first batch that found it
     * so, and before that compared with an ID of this very history. Of another history nothing can be said; the next claim takes a
     * new barrier.
     */
    public static final String PASSED = "(b.barrier_passed_at IS NOT NULL OR coalesce("
            + "pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())::text::bigint >= b.bound_xmax"
            + " AND b.barrier_system = " + History.SYSTEM + " AND b.barrier_timeline = " + History.TIMELINE
            + ", false))";

    private BarrierSql() {}
}
