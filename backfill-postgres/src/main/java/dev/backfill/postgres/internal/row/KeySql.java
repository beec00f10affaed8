package dev.backfill.postgres.internal.row;

import dev.backfill.KeyType;
import dev.backfill.TableName;
import dev.backfill.internal.Identifiers;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;

/**
 * How a key is spelled in SQL. Values travel as {@code text[]} and are cast in SQL, so that PostgreSQL alone parses, compares and
 * prints them (SR-2, SR-4).
 */
public final class KeySql {

    private static final Set<String> AGGREGATED =
            Set.of("bigint", "integer", "smallint", "numeric", "timestamptz", "timestamp", "date");
    private static final Set<String> SEARCHED =
            Set.of("uuid", "text", "bpchar", "citext", "bytea", "boolean", "double precision", "inet", "macaddr");

    private final TableName table;
    private final List<KeyType.Column> columns;

    /** The key of a table. */
    public KeySql(TableName table, KeyType<?> key) {
        this.table = table;
        this.columns = key.columns();
    }

    /** The quoted name under which statements know the source table: its own, so that authors may qualify with it. */
    public String alias() {
        return Identifiers.quote(table.name());
    }

    /** The table, quoted and qualified as the author gave it. */
    public String table() {
        return table.quoted();
    }

    /** The key of a row, as a scalar or a row value; compound keys need row comparison to use an index. */
    public String ofRow(String alias) {
        return each((column, i) -> collated(alias + "." + Identifiers.quote(column.name()), column));
    }

    /** The same from an array of canonical texts. */
    public String ofArray(String array) {
        return each((column, i) -> collated("(" + array + ")[" + (i + 1) + "]::" + column.sqlType(), column));
    }

    /** The same from a page or edge, whose columns are k1, k2 and so on. */
    public String ofEdge(String edge) {
        return each((column, i) -> collated("(SELECT k" + (i + 1) + " FROM " + edge + ")", column));
    }

    /**
     * For compound keys, the range of the first column alone, which follows from the range of the whole: the planner can estimate
     * it, and it can't estimate a comparison of rows.
     *
     * @param low the least value of the first column, as SQL of its type
     * @param high the greatest
     */
    public String leadingRange(String low, String high) {
        if (columns.size() == 1) {
            return "";
        }
        KeyType.Column first = columns.get(0);
        String column = collated(alias() + "." + Identifiers.quote(first.name()), first);
        return " AND " + column + " >= " + collated(low, first) + " AND " + column + " <= " + collated(high, first);
    }

    /** The first column from an array of canonical texts. */
    public String leadingOfArray(String array) {
        return "(" + array + ")[1]::" + columns.get(0).sqlType();
    }

    /** Whether {@code min} and {@code max} find the ends of a page: PostgreSQL has them for numbers and times, not for uuid before 18. */
    public boolean hasExtremes() {
        return columns.size() == 1 && AGGREGATED.contains(columns.get(0).sqlType());
    }

    /**
     * Whether an index can be searched for each of an array of keys: not for compound keys, nor where the type may be an array itself,
     * whose array PostgreSQL takes for one of its elements.
     */
    public boolean isSearched() {
        return hasExtremes()
                || (columns.size() == 1 && SEARCHED.contains(columns.get(0).sqlType()));
    }

    /** The columns of a page: k1, k2 and so on. */
    public String asPageColumns() {
        return IntStream.range(0, columns.size())
                .mapToObj(i -> alias() + "." + Identifiers.quote(columns.get(i).name()) + " AS k" + (i + 1))
                .collect(Collectors.joining(", "));
    }

    /** The columns of a page by name. */
    public String pageNames() {
        return IntStream.range(0, columns.size()).mapToObj(i -> "k" + (i + 1)).collect(Collectors.joining(", "));
    }

    /** The canonical text of a page's columns as an array. */
    public String pageTexts() {
        return IntStream.range(0, columns.size())
                .mapToObj(i -> "k" + (i + 1) + "::text")
                .collect(Collectors.joining(", ", "ARRAY[", "]"));
    }

    /** The canonical text of a row's key as an array. */
    public String rowTexts(String alias) {
        return columns.stream()
                .map(c -> alias + "." + Identifiers.quote(c.name()) + "::text")
                .collect(Collectors.joining(", ", "ARRAY[", "]"));
    }

    /** The canonical text of a row's key, a column for each part: k1, k2 and so on. */
    public Map<String, String> rowTextColumns(String alias) {
        Map<String, String> texts = new LinkedHashMap<>();
        for (int i = 0; i < columns.size(); i++) {
            texts.put(
                    "k" + (i + 1),
                    alias + "." + Identifiers.quote(columns.get(i).name()) + "::text");
        }
        return texts;
    }

    /** The order of rows. */
    public String order(String alias, String direction) {
        return columns.stream()
                .map(c -> collated(alias + "." + Identifiers.quote(c.name()), c) + direction)
                .collect(Collectors.joining(", "));
    }

    /** The order of a page. */
    public String pageOrder(String direction) {
        return IntStream.range(0, columns.size())
                .mapToObj(i -> collated("k" + (i + 1), columns.get(i)) + direction)
                .collect(Collectors.joining(", "));
    }

    /** Equality of a row with columns k1, k2 and so on of unnested texts. */
    public String rowEqualsUnnested(String alias, String unnested) {
        return IntStream.range(0, columns.size())
                .mapToObj(i ->
                        collated(alias + "." + Identifiers.quote(columns.get(i).name()), columns.get(i)) + " = "
                                + collated(
                                        "(" + unnested + ".k" + (i + 1) + ")::"
                                                + columns.get(i).sqlType(),
                                        columns.get(i)))
                .collect(Collectors.joining(" AND "));
    }

    public int width() {
        return columns.size();
    }

    private String each(BiFunction<KeyType.Column, Integer, String> form) {
        String joined = IntStream.range(0, columns.size())
                .mapToObj(i -> form.apply(columns.get(i), i))
                .collect(Collectors.joining(", "));
        return columns.size() == 1 ? joined : "(" + joined + ")";
    }

    private static String collated(String expression, KeyType.Column column) {
        String collation = column.collation();
        return collation == null ? expression : expression + " COLLATE " + Identifiers.quote(collation);
    }
}
