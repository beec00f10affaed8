package dev.backfill.postgres.internal.store;

import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The shapes of statement that walk a source by keyset. All of them select the page once, materialized, in one snapshot, and work on
 * the range up to its edge: a join with the page costs a fifth more, and a second snapshot could see more rows than the page.
 *
 * <p>Names inside start with {@code backfill_}, so that a table of the author's can't be shadowed.
 */
public final class PageSql {

    private static final String PAGE = """
            WITH backfill_page_ AS MATERIALIZED (
              SELECT {page_columns} FROM {source} WHERE {after}{row_key} <= {bound} ORDER BY {row_order} LIMIT :limit),
            backfill_head_ AS MATERIALIZED (SELECT * FROM backfill_page_ ORDER BY {page_order} LIMIT 1),
            backfill_edge_ AS MATERIALIZED (SELECT * FROM backfill_page_ ORDER BY {page_order_desc} LIMIT 1),
            backfill_size_ AS MATERIALIZED (SELECT count(*) AS scanned FROM backfill_page_)""";

    // Where the type of a single column has a least and a greatest, one pass finds both ends and the size, without a
    // sort.
    private static final String AGGREGATED_PAGE = """
            WITH backfill_ends_ AS MATERIALIZED (SELECT min(k1) AS k1, max(k1) AS last, count(*) AS scanned FROM (
              SELECT {page_columns} FROM {source} WHERE {after}{row_key} <= {bound} ORDER BY {row_order} LIMIT :limit) AS backfill_page_),
            backfill_head_ AS (SELECT k1 FROM backfill_ends_),
            backfill_edge_ AS (SELECT last AS k1 FROM backfill_ends_ WHERE scanned > 0),
            backfill_size_ AS (SELECT scanned FROM backfill_ends_)""";

    // From the page's first key and not from the checkpoint, which one snapshot makes the same: a range with two ends
    // that the
    // planner doesn't know is taken for a narrow one, and a range with one end, or a comparison of rows, for a third of
    // the table.
    private static final String RANGE = "{row_key} >= {head} AND {row_key} <= {edge}{leading_range}";

    // Before the first checkpoint there is no lower end, unless a range of a family has one: another text, no sentinel.
    private static final String AFTER = "{row_key} > {checkpoint} AND ";

    private static final String EDGE = """
            (SELECT scanned FROM backfill_size_) AS scanned, (SELECT {page_texts} FROM backfill_edge_) AS last""";

    private final KeySql key;

    /** For one key. */
    public PageSql(KeySql key) {
        this.key = key;
    }

    /** A statement from the source's first key on, and one after a key. */
    public record Pair(Sql first, Sql later) {
        /** Both. */
        public List<Sql> both() {
            return List.of(first, later);
        }

        /** The one that fits the claim. */
        public Sql of(Claim claim) {
            return claim.after() == null ? first : later;
        }
    }

    /** One UPDATE over the page's range. */
    public Pair update(String assignments, String condition) {
        return pair(ends() + """
                , backfill_done_ AS (UPDATE {source} SET {assignments}
                  WHERE {range} AND ({condition}) RETURNING 1)
                SELECT (SELECT count(*) FROM backfill_done_) AS changed,\s""" + EDGE, assignments, condition);
    }

    /** The page's rows that satisfy a condition, locked in key order, with the page's end on each; one row without any. */
    public Pair lock(String columns, String condition) {
        return pair(
                ends() + """
                , backfill_rows_ AS MATERIALIZED (SELECT {assignments} FROM {source}
                  WHERE {range} AND ({condition}) ORDER BY {row_order} FOR NO KEY UPDATE)
                SELECT\s""" + EDGE
                        + ", backfill_rows_.* FROM (SELECT 1) AS backfill_one_ LEFT JOIN backfill_rows_ ON true",
                columns,
                condition);
    }

    /** The page's keys as canonical text, in order. */
    public Pair keys() {
        return pair(PAGE + " SELECT {page_texts} AS key FROM backfill_page_ ORDER BY {page_order}", "", "");
    }

    private String ends() {
        return key.hasExtremes() ? AGGREGATED_PAGE : PAGE;
    }

    private Pair pair(String template, String assignments, String condition) {
        return new Pair(
                compile(template, "", assignments, condition), compile(template, AFTER, assignments, condition));
    }

    private Sql compile(String template, String after, String assignments, String condition) {
        Map<String, String> fragments = new HashMap<>(Map.of(
                "page_columns", key.asPageColumns(),
                "row_key", key.ofRow(key.alias()),
                "row_order", key.order(key.alias(), ""),
                "page_order_desc", key.pageOrder(" DESC"),
                "page_order", key.pageOrder(""),
                "page_texts", key.pageTexts(),
                "head", key.ofEdge("backfill_head_"),
                "edge", key.ofEdge("backfill_edge_"),
                "leading_range",
                        key.leadingRange("(SELECT k1 FROM backfill_head_)", "(SELECT k1 FROM backfill_edge_)")));
        fragments.putAll(Map.of("source", key.table(), "assignments", assignments, "condition", condition));
        // Parameters are named in the template alone: a fragment is put in as it is, so that nothing in an author's SQL
        // or in a
        // name is read as a parameter or as another fragment.
        String text = template.replace("{range}", RANGE)
                .replace("{after}", after)
                .replace("{checkpoint}", key.ofArray(":checkpoint::text[]"))
                .replace("{bound}", key.ofArray(":bound::text[]"));
        return Sql.of("/* backfill:repair */ " + text, fragments);
    }

    /** What every statement of a window is given. */
    public static Params params(Claim claim, int limit) {
        return params(claim.after(), claim.bound(), limit);
    }

    /** The same without a claim. */
    public static Params params(@Nullable List<String> after, @Nullable List<String> bound, int limit) {
        return Params.of("checkpoint", Values.array(after))
                .and("bound", Values.array(bound))
                .and("limit", limit);
    }
}
