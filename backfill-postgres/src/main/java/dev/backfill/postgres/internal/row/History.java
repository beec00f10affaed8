package dev.backfill.postgres.internal.row;

/**
 * What a position in the WAL, a transaction ID and a checkpoint belong to: a server's system identifier and its timeline, which a
 * promotion and a restore to a point in time change. Of two histories nothing can be compared (SR-6, SC-6).
 *
 * @param system the system identifier
 * @param timeline the timeline
 */
public record History(long system, int timeline) {

    /** The system identifier, as SQL. */
    public static final String SYSTEM = "(SELECT s.system_identifier FROM pg_catalog.pg_control_system() AS s)";

    /** The timeline that a primary writes, as SQL. Not from pg_control_checkpoint(), which learns of a promotion late. */
    public static final String TIMELINE =
            "('x' || pg_catalog.left(pg_catalog.pg_walfile_name(pg_catalog.pg_current_wal_insert_lsn()), 8))::bit(32)::integer";
}
