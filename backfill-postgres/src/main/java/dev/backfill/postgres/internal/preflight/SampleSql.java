package dev.backfill.postgres.internal.preflight;

import dev.backfill.KeyType;
import dev.backfill.TableName;
import dev.backfill.internal.Identifiers;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.row.KeySql;
import dev.backfill.postgres.internal.validate.ValidationSql.Span;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Where sampled windows begin: each found by a descent of the index, bounded by a window, never by a walk over the table. Immutable.
 */
public final class SampleSql {

    // The planner's own histogram of the first key column, which only those see who may read the column.
    private static final Sql MIDDLE = Sql.of("""
            /* backfill:rehearsal */ SELECT (h.bounds)[greatest(1, array_length(h.bounds, 1) / 2)] AS middle
            FROM (SELECT s.histogram_bounds::text::text[] AS bounds FROM pg_catalog.pg_stats AS s
              JOIN pg_catalog.pg_class AS c ON c.relname = s.tablename
              JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname = s.schemaname
              WHERE c.oid = :table::text::pg_catalog.regclass AND s.attname = :column
              ORDER BY s.inherited DESC LIMIT 1) AS h""");

    private static final Sql LOCKS = Sql.of("""
            /* backfill:rehearsal */ SELECT l.mode || ' on ' || c.relname AS lock
            FROM pg_catalog.pg_locks AS l JOIN pg_catalog.pg_class AS c ON c.oid = l.relation AND c.relkind IN ('r', 'p')
            JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace AND n.nspname NOT IN ('pg_catalog', 'information_schema')
            WHERE l.pid = pg_catalog.pg_backend_pid() AND l.locktype = 'relation' AND l.granted
              AND l.mode <> 'AccessShareLock' ORDER BY 1 LIMIT 20""");

    private final TableName table;
    private final KeyType.Column first;
    private final Sql from;
    private final Sql beforeLast;

    /** For a key of a table. */
    public SampleSql(TableName table, KeySql key, KeyType.Column first) {
        this.table = table;
        this.first = first;
        String select = "/* backfill:rehearsal */ SELECT " + key.rowTexts(key.alias()) + " AS key FROM {source} WHERE ";
        String column = key.alias() + "." + Identifiers.quote(first.name());
        String collate = first.collation() == null ? "" : " COLLATE " + Identifiers.quote(first.collation());
        // Past the range's lower end too, if it has one; a middle that lies beyond its upper end is none.
        String within = key.ofRow(key.alias()) + " <= " + key.ofArray(":bound::text[]")
                + " AND (:low::text[] IS NULL OR " + key.ofRow(key.alias()) + " > " + key.ofArray(":low::text[]") + ")";
        from = Sql.of(
                select + column + collate + " >= :middle::text::" + first.sqlType() + collate + " AND " + within
                        + " ORDER BY "
                        + key.order(key.alias(), "") + " LIMIT 1",
                Map.of("source", key.table()));
        beforeLast = Sql.of(
                select + within + " ORDER BY " + key.order(key.alias(), " DESC") + " OFFSET :limit LIMIT 1",
                Map.of("source", key.table()));
    }

    /** A key of the span near the middle of the table; null when nothing is known of the distribution. */
    public @Nullable List<String> middle(Session session, Span span) throws SQLException {
        String value;
        Params params = Params.of("table", table.quoted()).and("column", first.name());
        try (PreparedStatement statement = MIDDLE.prepare(session.connection(), params);
                ResultSet row = statement.executeQuery()) {
            value = row.next() ? row.getString("middle") : null;
        }
        return value == null ? null : key(session, from, ends(span).and("middle", value));
    }

    /** The key after which the last window begins; null when the source is smaller than two windows. */
    public @Nullable List<String> beforeLast(Session session, Span span, int limit) throws SQLException {
        return key(session, beforeLast, ends(span).and("limit", limit));
    }

    private static Params ends(Span span) {
        return Params.of("bound", Values.array(span.bound())).and("low", Values.array(span.low()));
    }

    private static @Nullable List<String> key(Session session, Sql sql, Params params) throws SQLException {
        try (PreparedStatement statement = sql.prepare(session.connection(), params);
                ResultSet row = statement.executeQuery()) {
            return row.next() ? Values.texts(row, "key") : null;
        }
    }

    /** The table locks beyond reading that the session holds. */
    public static List<String> locks(Session session) throws SQLException {
        List<String> locks = new ArrayList<>();
        try (PreparedStatement statement = LOCKS.prepare(session.connection(), Params.none());
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                locks.add(row.getString("lock"));
            }
        }
        return locks;
    }
}
