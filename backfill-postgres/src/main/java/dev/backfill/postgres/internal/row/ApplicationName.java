package dev.backfill.postgres.internal.row;

/**
 * What {@code pg_stat_activity} shows of a session that works on a backfill: which one, under which generation. The number comes
 * first, because PostgreSQL cuts names at 63 bytes and IDs may be longer. Stateless.
 */
public final class ApplicationName {

    /** The name as an expression over the row {@code b}; the same as {@link #of}. */
    public static final String SQL = "pg_catalog.\"left\"('backfill #' || b.no || ' g' || b.generation || ' ' || b.id, "
            + ApplicationName.MAX + ")";

    private static final int MAX = 63;

    private ApplicationName() {}

    /** The name for a claim. */
    public static String of(Claim claim) {
        String name = "backfill #" + claim.no() + " g" + claim.generation() + " " + claim.id();
        return name.substring(0, Math.min(MAX, name.length()));
    }
}
