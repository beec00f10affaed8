package dev.backfill.postgres.internal.batch;

import dev.backfill.internal.Identifiers;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.KeySql;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Writes computed values back to a window's rows in one statement, only where something differs. Immutable. */
public final class WriteBackSql {

    // One pass over the range, joined by hash, instead of a search in the index for each row, which the planner prefers
    // as it takes an array of unknown length for a short one. It lasts for the transaction, in which only the fence
    // follows.
    private static final Sql ONE_PASS =
            Sql.of("/* backfill:repair */ SELECT pg_catalog.set_config('enable_nestloop', 'off', true),"
                    + " pg_catalog.set_config('enable_seqscan', 'off', true)");

    private final int keyWidth;
    private final int columns;
    private final Sql planned;
    private final Sql rules;
    private final Sql later;

    /** For a key and the written columns. */
    public WriteBackSql(KeySql key, List<String> columns, TableFacts facts) {
        this.keyWidth = key.width();
        this.columns = columns.size();
        rules = Sql.of(
                "/* backfill:rules */ SELECT " + PageSql.replaced(facts.oid(), PageSql.Event.UPDATE) + " AS replaced");
        planned = compile(key, columns, facts, "");
        Sql ranged = compile(
                key,
                columns,
                facts,
                key.ofRow(key.alias()) + " > " + key.ofArray(":checkpoint::text[]")
                        + key.leadingRange(
                                key.leadingOfArray(":checkpoint::text[]"), key.leadingOfArray(":edge::text[]"))
                        + " AND ");
        // What a trigger runs is planned as ever. Before the first checkpoint the range has one end, and only a search
        // is sure to be short.
        later = facts.hasTriggers() ? ranged : ONE_PASS.then(ranged);
    }

    private static Sql compile(KeySql key, List<String> columns, TableFacts facts, String after) {
        String arrays = IntStream.range(0, key.width())
                        .mapToObj(i -> ":k" + (i + 1) + "::text[]")
                        .collect(Collectors.joining(", "))
                + IntStream.range(0, columns.size())
                        .mapToObj(i -> ", :c" + i + "::text[]")
                        .collect(Collectors.joining());
        String names = IntStream.range(0, key.width())
                        .mapToObj(i -> "k" + (i + 1))
                        .collect(Collectors.joining(", "))
                + IntStream.range(0, columns.size()).mapToObj(i -> ", c" + i).collect(Collectors.joining());
        List<String> set = new ArrayList<>();
        List<String> differs = new ArrayList<>();
        for (int i = 0; i < columns.size(); i++) {
            String quoted = Identifiers.quote(columns.get(i));
            TableFacts.Column column = Objects.requireNonNull(facts.columns().get(columns.get(i)));
            // Cast without length or precision: a value that does not fit must be an error, and a cast would cut it.
            set.add(quoted + " = backfill_values_.c" + i + "::" + column.castType());
            // Compared as text: identity, which every type has, and not equality, under which citext would lose a
            // repair.
            differs.add(key.alias() + "." + quoted + "::text IS DISTINCT FROM backfill_values_.c" + i + "::"
                    + column.comparableType() + "::text");
        }
        // The range again: with it the planner can't be tempted to read the whole table for the join.
        return Sql.of("/* backfill:repair */ UPDATE " + key.table() + " SET " + String.join(", ", set) + " FROM unnest("
                + arrays
                + ") AS backfill_values_ (" + names + ") WHERE "
                + key.rowEqualsUnnested(key.alias(), "backfill_values_") + " AND "
                + after + key.ofRow(key.alias()) + " <= " + key.ofArray(":edge::text[]") + " AND ("
                + String.join(" OR ", differs) + ")");
    }

    /** The update by itself, which a preflight can plan with the parameters {@linkplain #ofOneRow of one row}. */
    public Sql planned() {
        return planned;
    }

    /** The parameters for a single row and no values; for none where there is no key. */
    public Params ofOneRow(@Nullable List<String> key) {
        int rows = key == null ? 0 : 1;
        return params(
                Params.of("edge", Values.array(key)), Stream.ofNullable(key).toList(), new String[columns][rows]);
    }

    /**
     * Values to be written.
     *
     * @param sql the statement, after what it needs
     * @param params its parameters
     * @param rows rows that it may change, at most
     * @param rules asks whether a rule runs something else instead, so that a count means nothing
     */
    public record Write(Sql sql, Params params, int rows, Sql rules) {

        /** Writes, and says how many rows were changed. */
        long send(Session session) throws SQLException, BreachException {
            try (PreparedStatement statement = sql.then(rules).prepare(session.connection(), params)) {
                if (statement.execute()) {
                    statement.getMoreResults();
                }
                long changed = statement.getLargeUpdateCount();
                statement.getMoreResults();
                try (ResultSet row = statement.getResultSet()) {
                    row.next();
                    BreachException.throwIfReplaced(row.getBoolean("replaced"));
                }
                BreachException.throwIfBeyond(changed, rows);
                return changed;
            }
        }
    }

    /**
     * What is to be written.
     *
     * @param range checkpoint and edge of the window
     * @param keys the rows' keys
     * @param values for each column, the rows' values as text
     */
    public Write write(Claim claim, WindowSize size, Params range, List<List<String>> keys, String[][] values) {
        // Of a longer look few rows come back, and a search for each is less than its range once more.
        return new Write(
                claim.after() == null || size.looksFurther() ? planned : later,
                params(range, keys, values),
                keys.size(),
                rules);
    }

    private Params params(Params range, List<List<String>> keys, String[][] values) {
        for (int part = 0; part < keyWidth; part++) {
            int index = part;
            range.and("k" + (part + 1), keys.stream().map(k -> k.get(index)).toArray(String[]::new));
        }
        for (int column = 0; column < values.length; column++) {
            range.and("c" + column, values[column]);
        }
        return range;
    }
}
