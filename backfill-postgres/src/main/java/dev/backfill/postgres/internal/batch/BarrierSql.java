package dev.backfill.postgres.internal.batch;

/** The start barrier's condition (SR-6), for the statements that begin a batch or a validation. */
public final class BarrierSql {

    /**
     * Whether every transaction that had written before the bound was captured has ended. An ID that the server has not come to yet
     * was given out by another cluster, from which this row was restored: its transactions ended long ago, and waiting for the number
     * would take for ever.
     */
    static final String PASSED = """
            coalesce(pg_catalog.pg_snapshot_xmin(pg_catalog.pg_current_snapshot())::text::bigint >= b.bound_xmax
              OR pg_catalog.pg_snapshot_xmax(pg_catalog.pg_current_snapshot())::text::bigint < b.bound_xmax, false)""";

    private BarrierSql() {}
}
