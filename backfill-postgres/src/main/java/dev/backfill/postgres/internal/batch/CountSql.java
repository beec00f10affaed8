package dev.backfill.postgres.internal.batch;

/**
 * How many rows of the source a transaction has updated, by PostgreSQL's own count. The count also holds what the session did in
 * earlier transactions and has not reported yet, so it is read when the batch begins and again in the fence, and the difference is
 * the batch's. Stateless.
 */
public final class CountSql {

    // A setting of the transaction: transaction ID and count at the beginning, the latter empty where nothing is
    // counted.
    private static final String BEGAN = "'backfill.began'";
    private static final String COUNTS = "pg_catalog.current_setting('track_counts') = 'on'";

    private CountSql() {}

    private static String updated(long oid) {
        return "pg_catalog.pg_stat_get_xact_tuples_updated(" + oid + "::oid)";
    }

    /** The select item that notes where the count stands, for a transaction that has just begun. */
    static String begins(long oid) {
        return "pg_catalog.set_config(" + BEGAN + ", pg_catalog.pg_current_xact_id()::text || ' ' || CASE WHEN "
                + COUNTS + " THEN " + updated(oid) + "::text ELSE '' END, true)";
    }

    /** The transaction's ID as it was noted, as SQL. */
    static String began() {
        return "split_part(pg_catalog.current_setting(" + BEGAN + ", true), ' ', 1)";
    }

    /** Rows updated since, as SQL; null where that was not counted from the beginning. */
    static String changed(long oid) {
        return "CASE WHEN " + COUNTS + " THEN " + updated(oid) + " - nullif(split_part(pg_catalog.current_setting("
                + BEGAN + ", true), ' ', 2), '')::bigint END";
    }

    /**
     * Whether that count is the repair's own, as SQL over the row {@code c} of {@code pg_class}: a plain table without a rule, without
     * anybody's trigger, and without a foreign key that passes updates on. A trigger's savepoint that was rolled back is counted, too,
     * and a foreign key may lead back to the table.
     */
    public static final String PLAIN = """
            c.relkind = 'r' AND NOT c.relhasrules AND NOT c.relhassubclass
              AND NOT (c.relhastriggers AND EXISTS (SELECT FROM pg_catalog.pg_trigger AS g
                WHERE g.tgrelid = c.oid AND (NOT g.tgisinternal OR g.tgfoid IN ('pg_catalog."RI_FKey_cascade_upd"'::pg_catalog.regproc,
                  'pg_catalog."RI_FKey_setnull_upd"'::pg_catalog.regproc, 'pg_catalog."RI_FKey_setdefault_upd"'::pg_catalog.regproc))))""";

    /** The same for one table, which must still be what its quoted name means. */
    static String plain(long oid, String table) {
        return "(SELECT " + PLAIN + " FROM pg_catalog.pg_class AS c WHERE c.oid = " + oid
                + " AND c.oid = pg_catalog.to_regclass('" + table.replace("'", "''") + "')::oid)";
    }
}
