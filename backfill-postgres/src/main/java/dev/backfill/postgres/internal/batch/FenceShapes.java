package dev.backfill.postgres.internal.batch;

import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.HealthSql;
import dev.backfill.postgres.internal.row.KeySql;
import dev.backfill.postgres.internal.row.Target;
import java.util.HashMap;
import java.util.Map;

/**
 * The fence's statement in its shapes: before the first checkpoint or after one, with or without a lower end, or for an empty
 * source. Immutable; compiled per key and origin.
 */
final class FenceShapes {

    private static final String LOCK = "/* backfill:lock */ SELECT 1 FROM {backfill} WHERE id = :id FOR NO KEY UPDATE";

    // Each predicate has a test that fails without it; see docs/conformance.md.
    private static final String FENCE = """
            UPDATE {backfill} AS b SET
              {advance}
              batches = b.batches + 1, rows_scanned = b.rows_scanned + {scanned}, rows_changed = b.rows_changed + {changed},
              worked_micros = b.worked_micros + greatest(0, (extract(epoch FROM pg_catalog.clock_timestamp()
                - greatest(b.claimed_at, b.last_progress_at)) * 1000000)::bigint),
              attempts = 0, contended = 0, next_attempt_at = NULL,
              failure_code = NULL, failure_message = NULL, failure_sql_state = NULL, failure_at = NULL,
              wait_reason = NULL, wait_detail = NULL, wait_since = NULL,
              last_progress_at = pg_catalog.clock_timestamp(),
              claim_expires_at = pg_catalog.clock_timestamp() + :lease_millis * interval '1 millisecond'
            {from}WHERE b.id = :id
              AND b.state = 'running'
              AND b.generation = :generation
              AND b.claim_token = :token
              AND b.claim_expires_at > pg_catalog.clock_timestamp()
              AND {began}
              AND {window}
              AND {pinned}
              AND pg_catalog.pg_current_xact_id_if_assigned()::text = {xid}
              AND pg_catalog.current_setting('transaction_isolation') = 'read committed'
              AND pg_catalog.clock_timestamp() - pg_catalog.now() <= :limit_millis * interval '1 millisecond'{guard}
            RETURNING b.state{returning}""";

    // Whoever commits a batch has waited for the barrier; from here on no transaction ID is compared (SR-6).
    private static final String PASSED =
            " barrier_passed_at = coalesce(b.barrier_passed_at, pg_catalog.clock_timestamp()),";

    // How many keys there are says nothing of how many will be scanned.
    private static final String UNREAD = " rows_estimated = NULL,";

    private static final String ADVANCE = """
            checkpoint = CASE WHEN {new} = {bound} THEN b.bound ELSE {last} END,
              state = CASE WHEN {new} = {bound} THEN 'validating' ELSE b.state END,
              validating_at = CASE WHEN {new} = {bound} THEN pg_catalog.clock_timestamp() ELSE b.validating_at END,{passed}""";

    private static final String ADVANCE_EMPTY =
            "state = 'validating', validating_at = pg_catalog.clock_timestamp(),{passed}";

    private static final String AFTER_CHECKPOINT =
            "b.checkpoint = :previous::text[] AND {new} > {previous} AND {new} <= {bound}";
    private static final String AFTER_LOW = "b.checkpoint IS NULL AND {new} > {low} AND {new} <= {bound}";
    private static final String BEFORE_EVERYTHING = "b.checkpoint IS NULL AND {new} <= {bound}";

    // No parameter where there is no lower end: a NULL without a type would cost the flush its pipelining.
    private static final String BEGAN_WITH_THE_FIRST_KEY = "b.range_low IS NULL";
    private static final String BEGAN_AFTER_A_KEY = "b.range_low = :low::text[]";

    private static final String COUNTED_GUARD = """

              AND t.scanned BETWEEN 1 AND :keys
              AND t.changed BETWEEN 0 AND least(t.scanned, :limit)
              AND\s""";

    /**
     * Where the fence learns what the batch did.
     *
     * @param from a FROM clause, or nothing
     * @param last the greatest key of the window, as an array of texts
     * @param scanned keys in the window
     * @param changed rows changed
     * @param xid the ID of the transaction that began
     * @param guard what must hold besides
     */
    record Origin(String from, String last, String scanned, String changed, String xid, String guard) {

        /** Whether the fence answers with these, which the client does not know. */
        boolean answers() {
            return !from.isEmpty();
        }

        /** The client knows, and says so in parameters. */
        static final Origin CLIENT = new Origin("", ":new::text[]", ":scanned", ":changed", ":xid", "");

        /** The page is the one that the window's statement has told, and PostgreSQL has counted. */
        static Origin toldAndCounted(long oid, String table) {
            return counted(oid, table, PageSql.toldPage(), CountSql.began());
        }

        /** The client knows the page, and PostgreSQL has counted. */
        static Origin counted(long oid, String table) {
            return counted(oid, table, "SELECT :scanned::bigint AS scanned, :new::text[] AS last", ":xid");
        }

        private static Origin counted(long oid, String table, String page, String xid) {
            return new Origin(
                    "FROM (SELECT p.scanned, p.last, " + CountSql.changed(oid) + " AS changed FROM (" + page
                            + ") AS p) AS t ",
                    "t.last",
                    "t.scanned",
                    "t.changed",
                    xid,
                    COUNTED_GUARD + CountSql.plain(oid, table));
        }
    }

    /**
     * One shape.
     *
     * @param lock locks the row
     * @param fence advances it
     * @param flush both with COMMIT; a miss divides by zero
     */
    record Shape(Sql lock, Sql fence, Sql flush) {}

    private final Shape first;
    private final Shape firstOfRange;
    private final Shape later;
    private final Shape laterOfRange;
    private final Shape empty;

    FenceShapes(Names names, KeySql key, Origin origin, boolean barrier, boolean unread) {
        Map<String, String> parts = new HashMap<>(keys(key, origin.last()));
        parts.putAll(Map.of(
                "from", origin.from(),
                "last", origin.last(),
                "scanned", origin.scanned(),
                "changed", origin.changed(),
                "xid", origin.xid(),
                "guard", origin.guard(),
                "pinned", Target.PINNED,
                "passed", (barrier ? PASSED : "") + (unread ? UNREAD : ""),
                "returning",
                        origin.answers() ? ", t.last, t.scanned, t.changed, " + HealthSql.POSITION + " AS wal" : ""));
        String answer = origin.answers()
                ? ", min(f.last) AS last, min(f.scanned) AS scanned, min(f.changed) AS changed, min(f.wal) AS wal"
                : "";
        first = shape(names, parts, answer, ADVANCE, BEFORE_EVERYTHING, BEGAN_WITH_THE_FIRST_KEY);
        firstOfRange = shape(names, parts, answer, ADVANCE, AFTER_LOW, BEGAN_AFTER_A_KEY);
        later = shape(names, parts, answer, ADVANCE, AFTER_CHECKPOINT, BEGAN_WITH_THE_FIRST_KEY);
        laterOfRange = shape(names, parts, answer, ADVANCE, AFTER_CHECKPOINT, BEGAN_AFTER_A_KEY);
        empty = shape(names, parts, answer, ADVANCE_EMPTY, "b.bound_empty", BEGAN_WITH_THE_FIRST_KEY);
    }

    /** The keys that the fence compares, as SQL. */
    static Map<String, String> keys(KeySql key, String last) {
        return Map.of(
                "new", key.ofArray(last),
                "previous", key.ofArray("b.checkpoint"),
                "low", key.ofArray("b.range_low"),
                "bound", key.ofArray("b.bound"));
    }

    static String fill(String template, Map<String, String> parts) {
        String filled = template;
        for (Map.Entry<String, String> part : parts.entrySet()) {
            filled = filled.replace("{" + part.getKey() + "}", part.getValue());
        }
        return filled;
    }

    private static Shape shape(
            Names names, Map<String, String> parts, String answer, String advance, String window, String began) {
        String whole =
                FENCE.replace("{advance}", advance).replace("{window}", window).replace("{began}", began);
        String update = fill(whole, parts);
        return new Shape(
                names.sql(LOCK),
                names.sql("/* backfill:fence */ " + update),
                names.sql(LOCK + ";/* backfill:fence */ WITH f AS (" + update + ") SELECT min(f.state) AS state"
                        + answer + ", 1 / count(*) AS passed FROM f;/* backfill:commit */ COMMIT"));
    }

    /** The one that fits the claim. */
    Shape of(Claim claim) {
        if (claim.bound() == null) {
            return empty;
        }
        boolean whole = claim.rangeLow() == null;
        if (claim.checkpoint() != null) {
            return whole ? later : laterOfRange;
        }
        return whole ? first : firstOfRange;
    }
}
