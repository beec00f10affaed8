package dev.backfill.postgres.internal.row;

import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.Values;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;

/**
 * Where the key ranges of a family meet: keys of the source, in PostgreSQL's order, that cut it into parts of about one size. A small
 * table is read whole, of a large one a sample of its pages, so that the cost has a bound; how good the sample is decides how even the
 * parts are and nothing else. Immutable.
 */
public final class SplitsSql {

    /** The most pages that are read: eight megabytes, of which even a hundred parts get ten each. */
    public static final long MOST_PAGES = 1_000;

    // By size and not by the planner's estimate, which may be old or missing: what bounds the work are pages.
    private static final Sql PAGES = Sql.of("""
            /* backfill:splits */ SELECT coalesce(sum(pg_catalog.pg_relation_size(c.oid)), 0)::bigint
              / pg_catalog.current_setting('block_size')::bigint AS pages
            FROM pg_catalog.pg_class AS c WHERE c.relkind = 'r'
              AND (c.oid = :oid::oid OR c.oid IN (SELECT t.relid FROM pg_catalog.pg_partition_tree(:oid::oid) AS t))""");

    // Strictly before the bound, so that the range after the last split is not empty.
    private static final String SPLITS = """
            /* backfill:splits */ WITH backfill_keys_ AS MATERIALIZED (
              SELECT {texts} AS key, row_number() OVER (ORDER BY {order}) AS n FROM {source}{sample} WHERE {row_key} < {bound}),
            backfill_cuts_ AS MATERIALIZED (
              SELECT DISTINCT (t.total + 1) * c.i / :parts::integer AS n
              FROM (SELECT count(*) AS total FROM backfill_keys_) AS t, generate_series(1, :parts::integer - 1) AS c (i))
            SELECT k.key FROM backfill_keys_ AS k JOIN backfill_cuts_ AS c ON c.n = k.n ORDER BY k.n""";

    private final Sql whole;
    private final Sql sampled;

    /** For one key. */
    public SplitsSql(KeySql key) {
        whole = compile(key, "");
        sampled = compile(key, " TABLESAMPLE SYSTEM (:percent::real)");
    }

    private static Sql compile(KeySql key, String sample) {
        return Sql.of(
                SPLITS.replace("{bound}", key.ofArray(":bound::text[]")).replace("{sample}", sample),
                Map.of(
                        "texts", key.rowTexts(key.alias()),
                        "order", key.order(key.alias(), ""),
                        "source", key.table(),
                        "row_key", key.ofRow(key.alias())));
    }

    /**
     * Strictly rising keys before the bound, one fewer than the parts, or fewer where there are not so many keys.
     *
     * @param table the table's number in the catalog
     */
    public List<List<String>> splits(Session session, long table, List<String> bound, int parts) throws SQLException {
        long pages = pages(session, table);
        Params params = Params.of("bound", Values.array(bound))
                .and("parts", parts)
                .and("percent", 100.0 * MOST_PAGES / Math.max(MOST_PAGES, pages));
        List<List<String>> splits = new ArrayList<>();
        try (PreparedStatement statement =
                        (pages <= MOST_PAGES ? whole : sampled).prepare(session.connection(), params);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                splits.add(Objects.requireNonNull(Values.texts(row, "key")));
            }
        }
        return splits;
    }

    private static long pages(Session session, long table) throws SQLException {
        try (PreparedStatement statement = PAGES.prepare(session.connection(), Params.of("oid", table));
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getLong("pages");
        }
    }
}
