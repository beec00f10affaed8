package dev.backfill.postgres.internal.validate;

import dev.backfill.BackfillDefinition;
import dev.backfill.RequiredColumn;
import dev.backfill.TableName;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.batch.BarrierSql;
import dev.backfill.postgres.internal.jdbc.Limits;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.ApplicationName;
import dev.backfill.postgres.internal.row.History;
import dev.backfill.postgres.internal.row.KeySql;
import dev.backfill.postgres.internal.row.Readability;
import dev.backfill.postgres.internal.row.Target;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The read-only transaction of a validation (VA-2): its first statement, its proof, its last look. Immutable. */
public final class ValidationSql {

    // Single-flight by an advisory lock on table and number, because each schema numbers its rows for itself. It
    // belongs to the transaction: freed by a crash, and safe behind a proxy that pools transactions.
    // What a session may lock is what it may read; partitions are locked with their parent.
    private static final Sql TABLES = Sql.of("""
            /* backfill:validate */ SELECT pg_catalog.format('%I.%I', n.nspname, c.relname) AS name
            FROM unnest(:tables::text[]) AS t (name) JOIN pg_catalog.pg_class AS c ON c.oid = pg_catalog.to_regclass(t.name)::oid
            JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE c.relkind IN ('r', 'p') AND pg_catalog.has_table_privilege(c.oid, 'SELECT')
            GROUP BY 1 ORDER BY 1""");

    // Every table that the transaction has read holds its lock still. The snapshot shows which file it had then, the
    // function which it has now; one that the snapshot does not show at all was put in the place of another.
    private static final String REWRITTEN = """
            SELECT FROM pg_catalog.pg_locks AS l LEFT JOIN pg_catalog.pg_class AS c ON c.oid = l.relation
            WHERE l.pid = pg_catalog.pg_backend_pid() AND l.locktype = 'relation' AND l.granted
              AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database())
              AND (c.oid IS NULL OR c.relkind IN ('r', 'm') AND c.relfilenode <> 0
                AND c.relfilenode IS DISTINCT FROM pg_catalog.pg_relation_filenode(c.oid))""";

    private static final Sql PARTIAL = Sql.of("""
            /* backfill:validate */ SELECT EXISTS (SELECT FROM pg_catalog.pg_index AS i WHERE i.indpred IS NOT NULL
              AND (i.indrelid = pg_catalog.to_regclass(:table) OR i.indrelid IN
                (SELECT t.relid FROM pg_catalog.pg_partition_tree(pg_catalog.to_regclass(:table)) AS t))) AS partial""");

    private final Sql begin;
    private final Sql end;
    private final long barrierMillis;
    private final long lockMillis;

    /** Compiles the statements. */
    public ValidationSql(Names names, EngineOptions options) {
        barrierMillis = options.barrierTimeout().toMillis();
        lockMillis = options.lockTimeout().toMillis();
        begin = names.sql(
                "/* backfill:validate */ SELECT "
                        + Limits.ofValidation(options).asSelectItems()
                        + ", pg_catalog.set_config('application_name', " + ApplicationName.SQL + ", true)" + """
                , pg_catalog.pg_try_advisory_xact_lock(b.tableoid::integer, b.no) AS alone, b.state, b.generation, {system} AS system, {timeline} AS timeline, b.bound, b.bound_empty,
                  b.range_parts, b.range_low, b.key_codec, b.contract,
                  {passed} AS barrier_passed,
                """
                        + Target.ELSEWHERE + """
                 AS elsewhere,
                  coalesce(b.barrier_since < pg_catalog.clock_timestamp() - :barrier_millis * interval '1 millisecond', false) AS overdue
                FROM {backfill} AS b WHERE b.id = :id""",
                Map.of("passed", BarrierSql.PASSED, "system", History.SYSTEM, "timeline", History.TIMELINE));
        end = Sql.of("/* backfill:validate */ SELECT pg_catalog.pg_current_xact_id_if_assigned() IS NULL"
                + " AND pg_catalog.current_setting('transaction_read_only') = 'on'"
                + " AND pg_catalog.current_setting('transaction_isolation') = 'repeatable read' AS untouched, NOT EXISTS ("
                + REWRITTEN + ") AS current");
    }

    /**
     * The row in the snapshot that the proof sees.
     *
     * @param alone whether no other validation of this ID is under way
     * @param state its state
     * @param generation its generation
     * @param history the server's history, in which alone a generation is unique
     * @param bound its bound
     * @param rangeLow the exclusive lower bound of its range, or null
     * @param facts what decides whether this process can read it (ID-5)
     * @param elsewhere which other table the name means now; null where it is the one that it was at start
     * @param barrierPassed whether every transaction that wrote before the bound was captured has ended
     * @param overdue whether a claim has waited for that longer than it may (SR-6)
     */
    public record Begun(
            boolean alone,
            BackfillState state,
            long generation,
            History history,
            @Nullable List<String> bound,
            @Nullable List<String> rangeLow,
            Readability.Facts facts,
            @Nullable String elsewhere,
            boolean barrierPassed,
            boolean overdue) {

        /** The keys that are to be judged; null when there are none. */
        public @Nullable Span span() {
            return bound == null ? null : new Span(rangeLow, bound);
        }
    }

    /**
     * A run of keys.
     *
     * @param low the exclusive lower end; null for "from the first key"
     * @param bound the inclusive upper end
     */
    public record Span(@Nullable List<String> low, List<String> bound) {}

    /**
     * Begins; empty when the row is gone. The tables are locked before anything takes a snapshot: whoever waits for the end of a
     * rewrite with a snapshot in hand sees an empty table behind it.
     */
    public Optional<Begun> begin(Session session, BackfillDefinition<?> definition) throws SQLException {
        lock(session, tables(session, definition));
        Params params = Params.of("id", definition.id().value())
                .and("table", definition.table().quoted())
                .and("barrier_millis", barrierMillis);
        try (PreparedStatement statement = begin.prepare(session.connection(), params)) {
            statement.execute();
            try (ResultSet row = statement.getResultSet()) {
                if (!row.next()) {
                    return Optional.empty();
                }
                BackfillState state = BackfillState.ofWireName(row.getString("state"));
                return Optional.of(new Begun(
                        row.getBoolean("alone"),
                        state,
                        row.getLong("generation"),
                        new History(row.getLong("system"), row.getInt("timeline")),
                        Values.texts(row, "bound"),
                        Values.texts(row, "range_low"),
                        new Readability.Facts(
                                row.getInt("contract"),
                                state != BackfillState.PENDING,
                                row.getString("key_codec"),
                                Values.integer(row, "range_parts")),
                        row.getString("elsewhere"),
                        row.getBoolean("barrier_passed"),
                        row.getBoolean("overdue")));
            }
        }
    }

    /** The tables that a definition names, in a transaction of their own, whose snapshot must not outlive it. */
    private static List<String> tables(Session session, BackfillDefinition<?> definition) throws SQLException {
        String[] named = Stream.concat(
                        Stream.of(definition.table()),
                        definition.required().stream().map(RequiredColumn::table))
                .map(TableName::quoted)
                .distinct()
                .toArray(String[]::new);
        List<String> tables = new ArrayList<>();
        try (PreparedStatement statement = TABLES.prepare(session.connection(), Params.of("tables", named));
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                tables.add(row.getString("name"));
            }
        }
        session.connection().rollback();
        return tables;
    }

    /** None of these commands takes a snapshot. */
    private void lock(Session session, List<String> tables) throws SQLException {
        String lock = tables.isEmpty() ? "" : ";LOCK TABLE " + String.join(", ", tables) + " IN ACCESS SHARE MODE";
        try (Statement statement = session.connection().createStatement()) {
            statement.execute(
                    "/* backfill:validate */ SET TRANSACTION ISOLATION LEVEL REPEATABLE READ, READ ONLY;SET LOCAL lock_timeout = "
                            + lockMillis + lock);
        }
    }

    /**
     * The last look.
     *
     * @param untouched whether the transaction is still the read-only one that began, and wrote nothing
     * @param current whether no table that it read was rewritten after its snapshot, which then does not show its rows
     */
    public record Ended(boolean untouched, boolean current) {}

    /** Looks at the transaction once more. */
    public Ended end(Session session) throws SQLException {
        try (PreparedStatement statement = end.prepare(session.connection(), Params.none());
                ResultSet row = statement.executeQuery()) {
            row.next();
            return new Ended(row.getBoolean("untouched"), row.getBoolean("current"));
        }
    }

    /** A condition for rows of a span, with its ends as literals, for authors' own queries. */
    public static String within(KeySql key, String alias, Span span) {
        String atMost = key.ofRow(alias) + " <= " + key.ofArray(literals(span.bound()));
        return span.low() == null
                ? atMost
                : "(" + key.ofRow(alias) + " > " + key.ofArray(literals(span.low())) + " AND " + atMost + ")";
    }

    private static String literals(List<String> texts) {
        return texts.stream().map(ValidationSql::literal).collect(Collectors.joining(", ", "ARRAY[", "]::text[]"));
    }

    // An escape string, so that the result does not depend on standard_conforming_strings.
    private static String literal(String text) {
        return " E'" + text.replace("\\", "\\\\").replace("'", "''") + "'";
    }

    /**
     * The statement that looks for such a row, over parameter {@code bound}, and {@code checkpoint} if it has a lower end. Of a whole
     * source, rows are not found through the key's index, which the work went through: one that lacks rows would hide them from both
     * (VA-4). A part of a family reads its own range through it, because reading the whole for each part would be dear.
     */
    public static Sql matching(KeySql key, boolean hasLow, String condition) {
        if (!hasLow) {
            return Sql.of(
                    "/* backfill:validate */ SELECT " + key.rowTexts(key.alias())
                            + " AS key FROM (SELECT * FROM {source} WHERE ({condition}) OFFSET 0) AS " + key.alias()
                            + " WHERE "
                            + key.ofRow(key.alias()) + " <= " + key.ofArray(":bound::text[]") + " LIMIT 1",
                    java.util.Map.of("source", key.table(), "condition", condition));
        }
        String after = key.ofRow(key.alias()) + " > " + key.ofArray(":checkpoint::text[]") + " AND ";
        return Sql.of(
                "/* backfill:validate */ SELECT " + key.rowTexts(key.alias()) + " AS key FROM {source} WHERE " + after
                        + key.ofRow(key.alias()) + " <= " + key.ofArray(":bound::text[]")
                        + " AND ({condition}) LIMIT 1",
                java.util.Map.of("source", key.table(), "condition", condition));
    }

    /**
     * Such a condition, which no index with a condition of its own can serve: the work may have gone through it, and if it lacks rows
     * it would hide them from both (VA-4).
     */
    private static String pastPartialIndexes(Session session, KeySql key, String condition) throws SQLException {
        try (PreparedStatement statement = PARTIAL.prepare(session.connection(), Params.of("table", key.table()));
                ResultSet row = statement.executeQuery()) {
            row.next();
            return row.getBoolean("partial") ? "CASE WHEN (" + condition + ") THEN true ELSE false END" : condition;
        }
    }

    /** The key of some row of the span that satisfies a condition; empty when there is none. */
    public static Optional<List<String>> findMatch(Session session, KeySql key, @Nullable Span span, String condition)
            throws SQLException {
        if (span == null) {
            return Optional.empty();
        }
        Sql find = matching(key, span.low() != null, pastPartialIndexes(session, key, condition));
        Params params = Params.of("bound", Values.array(span.bound())).and("checkpoint", Values.array(span.low()));
        try (PreparedStatement statement = find.prepare(session.connection(), params);
                ResultSet row = statement.executeQuery()) {
            return row.next() ? Optional.ofNullable(Values.texts(row, "key")) : Optional.empty();
        }
    }
}
