package dev.backfill;

import dev.backfill.internal.BoundedText;
import dev.backfill.internal.Identifiers;
import java.util.HashSet;
import java.util.List;
import java.util.function.Function;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The keyset key of a source table: one to eight columns with a total, stable order, and how their canonical text becomes a Java
 * value. Made by {@link Keys}. Immutable and thread-safe.
 *
 * @param <K> what a definition's own code sees as the key
 * @since 0.1
 */
public final class KeyType<K> {

    private static final int MAX_COLUMNS = 8;

    private final List<Column> columns;
    private final Function<List<String>, K> decoder;

    KeyType(List<Column> columns, Function<List<String>, K> decoder) {
        if (columns.isEmpty() || columns.size() > MAX_COLUMNS) {
            throw new InvalidDefinitionException(
                    "A key has 1 to " + MAX_COLUMNS + " columns, got " + columns.size() + ".");
        }
        if (new HashSet<>(columns.stream().map(Column::name).toList()).size() != columns.size()) {
            throw new InvalidDefinitionException("A key names a column once, got "
                    + columns.stream().map(Column::name).toList() + ".");
        }
        this.columns = List.copyOf(columns);
        this.decoder = decoder;
    }

    /** The columns, most significant first. */
    public List<Column> columns() {
        return columns;
    }

    /**
     * Turns the canonical text of each column, as PostgreSQL wrote it, into a Java value.
     *
     * @throws BackfillException if a value has no Java form, such as a {@code NaN} numeric; bound and checkpoint don't need one
     */
    public K decode(List<String> canonical) {
        try {
            return decoder.apply(canonical);
        } catch (IllegalArgumentException | java.time.DateTimeException e) {
            throw new BackfillException("A key of type " + codec() + " has no Java value"
                    + " (NaN, or a date beyond Java's range). Use a set-based repair, which never decodes keys.");
        }
    }

    /** The codec under which bound and checkpoint are stored, for instance {@code v1:(timestamptz,uuid)} (SR-4). */
    public String codec() {
        String types = columns.stream().map(Column::codecName).collect(Collectors.joining(","));
        return "v1:" + (columns.size() == 1 ? types : "(" + types + ")");
    }

    @Override
    public String toString() {
        return columns.stream().map(c -> c.name() + " " + c.codecName()).collect(Collectors.joining(", ", "(", ")"));
    }

    /**
     * One column of a keyset key. Its order is PostgreSQL's, never Java's (SR-2).
     *
     * @param name the column, unquoted
     * @param sqlType the PostgreSQL type as it is cast in SQL, for instance {@code bigint}
     * @param collation for text: the deterministic collation that orders it, for instance {@code C}; null for other types
     */
    public record Column(
            String name, String sqlType, @Nullable String collation) {

        // A type is spliced into SQL as a cast: names, optional schema and quotes, and nothing that could end the cast.
        private static final Pattern TYPE =
                Pattern.compile("([A-Za-z_][A-Za-z0-9_ ]*|(\"[^\"\\x00]+\"\\.)?\"[^\"\\x00]+\")(\\[])?");

        /** Checks the parts. */
        public Column {
            Identifiers.check("key column", name, InvalidDefinitionException::new);
            if (!TYPE.matcher(sqlType).matches()) {
                throw new InvalidDefinitionException("The key type '" + BoundedText.clean(sqlType, 80) + "' of column "
                        + name + " is not a plain type name. Use one of the methods of Keys.");
            }
            if (collation != null) {
                Identifiers.check("collation", collation, InvalidDefinitionException::new);
            }
        }

        /** The name under which bound and checkpoint are stored, for instance {@code bigint} or {@code text:C} (SR-4). */
        public String codecName() {
            return collation == null ? sqlType : sqlType + ":" + collation;
        }
    }
}
