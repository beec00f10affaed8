package dev.backfill.postgres.internal.batch;

import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.KeySql;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
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
              SELECT {page_columns} FROM {source} WHERE {source_rows} ORDER BY {row_order} LIMIT :limit),
            backfill_head_ AS MATERIALIZED (SELECT * FROM backfill_page_ ORDER BY {page_order} LIMIT 1),
            backfill_edge_ AS MATERIALIZED (SELECT * FROM backfill_page_ ORDER BY {page_order_desc} LIMIT 1),
            backfill_size_ AS MATERIALIZED (SELECT count(*) AS scanned FROM backfill_page_)""";

    // Where the type of a single column has a least and a greatest, one pass finds both ends and the size, without a
    // sort.
    private static final String AGGREGATED_PAGE = """
            WITH backfill_ends_ AS MATERIALIZED (SELECT min(k1) AS k1, max(k1) AS last, count(*) AS scanned FROM (
              SELECT {page_columns} FROM {source} WHERE {source_rows} ORDER BY {row_order} LIMIT :limit) AS backfill_page_),
            backfill_head_ AS (SELECT k1 FROM backfill_ends_),
            backfill_edge_ AS (SELECT last AS k1 FROM backfill_ends_ WHERE scanned > 0),
            backfill_size_ AS (SELECT scanned FROM backfill_ends_)""";

    // From the page's first key and not from the checkpoint, which one snapshot makes the same: a range with two ends
    // that the
    // planner doesn't know is taken for a narrow one, and a range with one end, or a comparison of rows, for a third of
    // the table.
    private static final String RANGE = "{row_key} >= {head} AND {row_key} <= {edge}{leading_range}";

    // A setting of the transaction, gone with it, and no state of the session.
    private static final String TOLD = "'backfill.page'";

    /** The name under which a statement of the author's reads the page's rows. */
    static final String WINDOW = "backfill_window_";

    /** The select item that makes it empty, whatever a session brought along. */
    public static final String UNTOLD = "pg_catalog.set_config(" + TOLD + ", '', true)";

    // Before the first checkpoint there is no lower end, unless a range of a family has one: another text, no sentinel.
    private static final String AFTER = "{row_key} > {checkpoint} AND ";

    // The one place that says which rows a page may hold, besides where it begins.
    private static final String SOURCE_ROWS = "{row_key} <= {bound}";

    // Asked once, before anything is read: with the gate shut the page is empty, and so is every range that comes of
    // it.
    private static final String BEHIND_GATE = "pg_catalog.current_setting({gate}, true) = 'open' AND ";
    private static final String GATE = "'backfill.gate'";

    private static final String EDGE = """
            (SELECT scanned FROM backfill_size_) AS scanned, (SELECT {page_texts} FROM backfill_edge_) AS last""";

    private final KeySql key;
    private final LookSql look;

    /** For one key. */
    public PageSql(KeySql key) {
        this.key = key;
        this.look = new LookSql(key);
    }

    /** The select item that opens the gate for what comes {@linkplain Forms#gated behind} it, or shuts it; its text is 'open' then. */
    static String gate(String condition) {
        return "pg_catalog.set_config(" + GATE + ", CASE WHEN " + condition + " THEN 'open' ELSE '' END, true)";
    }

    /**
     * A statement in its forms.
     *
     * @param first from the source's first key on
     * @param later after a key
     * @param gated after a key, and only where a {@link #gate} before it in the same transaction is open
     */
    public record Forms(Sql first, Sql later, Sql gated) {
        /** Those that depend on nothing else. */
        public List<Sql> both() {
            return List.of(first, later);
        }

        /** The one that fits the claim. */
        public Sql of(Claim claim) {
            return claim.after() == null ? first : later;
        }

        /** Each followed by another statement in the same flush. */
        public Forms then(Sql next) {
            return new Forms(first.then(next), later.then(next), gated.then(next));
        }

        private Forms recursive() {
            return new Forms(recursive(first), recursive(later), recursive(gated));
        }

        private static Sql recursive(Sql sql) {
            return sql.withText(text -> text.replaceFirst("WITH ", "WITH RECURSIVE "));
        }
    }

    private static final String UPDATE = "UPDATE {source} SET {assignments}{from} WHERE {rows}";
    private static final String DELETE = "DELETE FROM {source} WHERE {rows}";
    private static final String OF_PAGE = "{range} AND ({condition})";

    private static final String TELL = """
                , backfill_told_ AS MATERIALIZED (SELECT pg_catalog.set_config({told}, coalesce((SELECT scanned FROM backfill_size_) || ' '
                  || (SELECT {page_texts}::text FROM backfill_edge_), ''), true) AS page)
            """;
    private static final String TELL_PAGE = TELL + """
            , backfill_last_ AS MATERIALIZED (SELECT backfill_edge_.* FROM backfill_told_, backfill_edge_ WHERE page <> '')
            """;

    /**
     * One UPDATE.
     *
     * @param from a FROM clause, or nothing
     */
    Command update(String assignments, String from, String condition) {
        return new Command(UPDATE, Map.of("assignments", assignments, "from", from, "condition", condition));
    }

    /** One DELETE. */
    Command delete(String condition) {
        return new Command(DELETE, Map.of("condition", condition));
    }

    /**
     * One command over a page's rows. PostgreSQL counts them of its own accord, and to return each row costs a tenth more: so the
     * page's end goes through {@link #TOLD}, from where {@link #told} fetches it in the same flush. Where a command may not be sent
     * twice it goes in one result, which says where the page ends whatever the plan.
     */
    final class Command {

        private final String template;
        private final Map<String, String> parts;

        private Command(String template, Map<String, String> parts) {
            this.template = template;
            this.parts = parts;
        }

        /** The same; its longer look reads no row that does not meet a condition. */
        Command passingOver(String condition) {
            Map<String, String> more = new HashMap<>(parts);
            more.putAll(LookSql.passing(condition));
            return new Command(template, more);
        }

        /** Over a page. */
        Forms told() {
            return forms(page() + TELL_PAGE + template.replace("{rows}", "{told_range} AND ({condition})"), parts);
        }

        /** The same in one result. */
        Forms returning() {
            return forms(page() + returning(template.replace("{rows}", OF_PAGE)), parts);
        }

        /** Over those keys of a longer look that satisfy the condition. */
        Forms toldOfLook() {
            return forms(look.keys() + TELL + look.toldTodo() + " " + look.over(template), parts);
        }

        /** The same in one result. */
        Forms returningOfLook() {
            return forms(look.keys() + look.todo() + returning(look.over(template)), parts);
        }

        private static String returning(String command) {
            return ", backfill_done_ AS (" + command
                    + " RETURNING 1) SELECT (SELECT count(*) FROM backfill_done_) AS changed, " + EDGE;
        }
    }

    /**
     * A statement of the author's, which reads the page's rows under a name.
     *
     * @param recursive whether its own WITH clause is recursive
     * @param locking how the rows are locked, in the order of their keys; or nothing
     * @param statement it, without the word WITH but with a comma where it has such a clause
     */
    Forms statement(boolean recursive, String locking, String statement) {
        Forms forms = forms(
                page() + TELL_PAGE + ", " + WINDOW + " AS MATERIALIZED (SELECT {alias}.* FROM {source}"
                        + " WHERE {told_range} ORDER BY {row_order}{locking}){statement}",
                Map.of("locking", locking, "statement", statement));
        return recursive ? forms.recursive() : forms;
    }

    /** The page and nothing else, as a command that has changed nothing. */
    Forms pageOnly() {
        return forms(page() + " SELECT 0 AS changed, " + EDGE, Map.of());
    }

    /**
     * The page that the statement before it went over, nulls when its plan had no need to look; whether a rule made something
     * else of it, which came after the claim or it would have been refused.
     */
    Sql told(long tableOid, Event event) {
        return Sql.of("/* backfill:page */ SELECT p.scanned, p.last, " + replaced(tableOid, event)
                + " AS replaced, CASE WHEN "
                + CountSql.plain(tableOid, key.table()) + " THEN " + CountSql.changed(tableOid)
                + " END AS counted FROM ("
                + toldPage() + ") AS p");
    }

    /** The page that was told, as a SELECT of one row: keys in it and the last of them. */
    static String toldPage() {
        return "SELECT split_part(t.page, ' ', 1)::bigint AS scanned, substr(t.page, strpos(t.page, ' ') + 1)::text[] AS last"
                + " FROM (SELECT nullif(pg_catalog.current_setting(" + TOLD + ", true), '') AS page) AS t";
    }

    /** Commands, as {@code pg_rewrite} numbers them. */
    enum Event {
        UPDATE('2'),
        DELETE('4'),
        /** None that a rule of the source could replace unseen. */
        OTHER('0');

        private final char number;

        Event(char number) {
            this.number = number;
        }
    }

    /** Whether a rule runs something else instead of a command on the table, as SQL. */
    static String replaced(long tableOid, Event event) {
        return "EXISTS (SELECT FROM pg_catalog.pg_rewrite AS r WHERE r.ev_class = " + tableOid + " AND r.ev_type = '"
                + event.number + "' AND r.is_instead AND r.ev_enabled <> 'D')";
    }

    /**
     * One row with the page, then the page's rows that satisfy a condition, locked in key order; in columns of their own, so that the
     * page is not sent with each row.
     *
     * @param columns names and expressions of type text
     */
    public Forms lock(Map<String, String> columns, String condition) {
        return locked(page(), OF_PAGE, columns, condition, Map.of());
    }

    /**
     * The same over those keys of a longer look that satisfy the condition.
     *
     * @param unread whether it reads no others
     */
    Forms lockOfLook(Map<String, String> columns, String condition, boolean unread) {
        return locked(
                look.keys() + look.todo(),
                look.over("{rows}"),
                columns,
                condition,
                unread ? LookSql.passing(condition) : Map.of());
    }

    /** The keys of the rows that meet a condition, in order. */
    Forms inNeed(String condition) {
        return forms(look.inNeed(), LookSql.passing(condition));
    }

    private Forms locked(
            String page, String rows, Map<String, String> columns, String condition, Map<String, String> more) {
        Map<String, String> parts = new HashMap<>(more);
        parts.put("condition", condition);
        parts.put(
                "assignments",
                each(columns, column -> ", " + column.getValue() + " AS " + column.getKey())
                        .substring(1));
        return forms(
                page + """
                , backfill_rows_ AS MATERIALIZED (SELECT {assignments} FROM {source}
                  WHERE\s""" + rows + """
                 ORDER BY {row_order} FOR NO KEY UPDATE)
                SELECT\s""" + EDGE + each(columns, column -> ", NULL::text AS " + column.getKey())
                        + " UNION ALL SELECT NULL, NULL, backfill_rows_.* FROM backfill_rows_",
                parts);
    }

    private static String each(Map<String, String> columns, Function<Map.Entry<String, String>, String> form) {
        return columns.entrySet().stream().map(form).collect(Collectors.joining());
    }

    /** The page's keys as canonical text, in order. */
    public Forms keys() {
        return forms(PAGE + " SELECT {page_texts} AS key FROM backfill_page_ ORDER BY {page_order}", Map.of());
    }

    private String page() {
        return key.hasExtremes() ? AGGREGATED_PAGE : PAGE;
    }

    private Forms forms(String template, Map<String, String> parts) {
        return new Forms(
                compile(template, "", parts),
                compile(template, AFTER, parts),
                compile(template, BEHIND_GATE + AFTER, parts));
    }

    private Sql compile(String template, String after, Map<String, String> parts) {
        Map<String, String> fragments = new HashMap<>(Map.of(
                "page_columns", key.asPageColumns(),
                "row_key", key.ofRow(key.alias()),
                "row_order", key.order(key.alias(), ""),
                "page_order_desc", key.pageOrder(" DESC"),
                "page_order", key.pageOrder(""),
                "page_texts", key.pageTexts(),
                "head", key.ofEdge("backfill_head_"),
                "edge", key.ofEdge("backfill_edge_"),
                "told_edge", key.ofEdge("backfill_last_"),
                "leading_range",
                        key.leadingRange("(SELECT k1 FROM backfill_head_)", "(SELECT k1 FROM backfill_edge_)")));
        fragments.putAll(look.fragments());
        fragments.putAll(parts);
        fragments.putAll(Map.of("source", key.table(), "alias", key.alias(), "told", TOLD, "gate", GATE));
        // Parameters are named in the template alone: a fragment is put in as it is, so that nothing in an author's SQL
        // or in a
        // name is read as a parameter or as another fragment.
        String text = template.replace("{told_range}", RANGE.replace("{edge}", "{told_edge}"))
                .replace("{range}", RANGE)
                .replace("{source_rows}", after + SOURCE_ROWS)
                .replace("{checkpoint}", key.ofArray(":checkpoint::text[]"))
                .replace("{bound}", key.ofArray(":bound::text[]"));
        return Sql.of("/* backfill:repair */ " + text, fragments);
    }

    /** What every statement of a window is given. */
    public static Params params(Claim claim, WindowSize size) {
        return params(claim.after(), claim.bound(), size);
    }

    /** The same without a claim. */
    public static Params params(@Nullable List<String> after, @Nullable List<String> bound, WindowSize size) {
        return Params.of("checkpoint", Values.array(after))
                .and("bound", Values.array(bound))
                .and("limit", size.rows())
                .and("keys", size.keys());
    }
}
