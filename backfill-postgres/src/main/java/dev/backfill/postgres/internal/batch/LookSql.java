package dev.backfill.postgres.internal.batch;

import dev.backfill.postgres.internal.row.KeySql;
import java.util.Map;

/**
 * A look at more keys than a window may repair, for stretches in which few rows need it (SR-7). Each key is looked at once, in the
 * snapshot of the statement that repairs those in need. Templates for {@link PageSql}. Immutable.
 *
 * <p>A row that begins to need the repair behind the look is the write path's, as it is behind a window (ID-7).
 */
final class LookSql {

    // One pass notes which keys need the repair: the page ends at the last of those that may be repaired, or where the
    // look ends.
    private static final String LOOK = """
            WITH backfill_page_ AS MATERIALIZED (SELECT {page_columns}, ({condition}) AS needs
              FROM {source} WHERE {source_rows}{passing} ORDER BY {row_order} LIMIT :keys),
            backfill_todo_ AS MATERIALIZED (SELECT * FROM backfill_page_ WHERE needs ORDER BY {page_order} LIMIT :limit),
            backfill_full_ AS MATERIALIZED (SELECT * FROM backfill_todo_ ORDER BY {page_order} OFFSET :limit - 1),
            backfill_edge_ AS MATERIALIZED (SELECT * FROM backfill_page_
              WHERE NOT EXISTS (SELECT FROM backfill_full_) OR ({page_order}) <= {full} ORDER BY {page_order_desc} LIMIT 1),
            backfill_size_ AS MATERIALIZED (SELECT count(*) AS scanned FROM backfill_page_ WHERE ({page_order}) <= {edge})""";

    // The same by one aggregate. Sorted inside it: the array's order must not rest on how a plan happens to feed it.
    // Keys up to an edge that comes before the end of the look are counted again, in the same snapshot.
    private static final String AGGREGATED_LOOK = """
            WITH backfill_look_ AS MATERIALIZED (SELECT max(k1) AS last, count(*) AS scanned, array_agg(k1 ORDER BY k1) FILTER (WHERE needs) AS todo
              FROM (SELECT {page_columns}, ({condition}) AS needs
                FROM {source} WHERE {source_rows}{passing} ORDER BY {row_order} LIMIT :keys) AS backfill_page_),
            backfill_todo_ AS MATERIALIZED (SELECT unnest(todo[1:(:limit)::integer]) AS k1 FROM backfill_look_),
            backfill_edge_ AS MATERIALIZED (SELECT CASE WHEN cardinality(todo) > :limit THEN todo[(:limit)::integer] ELSE last END AS k1
              FROM backfill_look_ WHERE scanned > 0),
            backfill_size_ AS MATERIALIZED (SELECT CASE WHEN cardinality(todo) > :limit
              THEN (SELECT count(*) FROM {source} WHERE {source_rows}{passing} AND {row_key} <= {edge}) ELSE scanned END AS scanned FROM backfill_look_)""";

    // What waits for the page's end to be told.
    private static final String TOLD_TODO = """
            , backfill_chosen_ AS MATERIALIZED (SELECT backfill_todo_.* FROM backfill_told_, backfill_todo_ WHERE page <> '')""";
    private static final String TODO =
            ", backfill_chosen_ AS MATERIALIZED (SELECT backfill_todo_.* FROM backfill_todo_)";

    // One search for each of them. A row is looked at again, under its lock, if somebody has changed it meanwhile.
    private static final String CHOSEN = "{row_key} = ANY (ARRAY(SELECT k1 FROM backfill_chosen_)) AND ({condition})";

    // An array of compound keys is nothing that an index could be searched for, and one of arrays would be compared
    // element by element: so their range is gone over again. Inside CASE the planner makes no join of it, for which
    // it might read the whole table.
    private static final String CHOSEN_RANGE = "{row_key} >= {least} AND {row_key} <= {greatest}{chosen_range}"
            + " AND CASE WHEN {row_key} IN (SELECT {page_names} FROM backfill_chosen_) THEN ({condition}) ELSE false END";
    private static final String CHOSEN_ENDS = """
            , backfill_least_ AS MATERIALIZED (SELECT * FROM backfill_chosen_ ORDER BY {page_order} LIMIT 1)
            , backfill_greatest_ AS MATERIALIZED (SELECT * FROM backfill_chosen_ ORDER BY {page_order_desc} LIMIT 1)""";

    private static final String IN_NEED =
            "SELECT {page_columns} FROM {source} WHERE {source_rows}{passing} ORDER BY {row_order} LIMIT :keys";

    private final KeySql key;

    LookSql(KeySql key) {
        this.key = key;
    }

    /** The keys of rows that need the repair; where an index serves this, a look need not read the others. */
    String inNeed() {
        return IN_NEED;
    }

    /** What a look adds to the rows of the source, to pass over all that do not meet it. */
    static Map<String, String> passing(String condition) {
        return Map.of("passing", " AND (" + condition + ")");
    }

    /** The keys, those in need among them, and where the page ends. */
    String keys() {
        return key.hasExtremes() ? AGGREGATED_LOOK : LOOK;
    }

    /** Those that are to be repaired. */
    String todo() {
        return TODO + ends();
    }

    /** The same, once the page's end is told. */
    String toldTodo() {
        return TOLD_TODO + ends();
    }

    private String ends() {
        return key.isSearched() ? "" : CHOSEN_ENDS;
    }

    /** A command over those; its placeholder is {@code {rows}}. */
    String over(String command) {
        return command.replace("{rows}", key.isSearched() ? CHOSEN : CHOSEN_RANGE);
    }

    /** What the templates need besides those of a page. */
    Map<String, String> fragments() {
        return Map.of(
                "passing",
                "",
                "page_names",
                key.pageNames(),
                "full",
                key.ofEdge("backfill_full_"),
                "least",
                key.ofEdge("backfill_least_"),
                "greatest",
                key.ofEdge("backfill_greatest_"),
                "chosen_range",
                key.leadingRange("(SELECT k1 FROM backfill_least_)", "(SELECT k1 FROM backfill_greatest_)"));
    }
}
