package dev.backfill;

import java.util.HashSet;
import java.util.List;
import java.util.function.Function;
import java.util.stream.Collectors;

/**
 * The keyset key of a source table: one to eight columns with a total, stable order, and how their canonical text becomes a Java
 * value. Made by {@link Keys}. Immutable and thread-safe.
 *
 * @param <K> what a definition's own code sees as the key
 * @since 0.1
 */
public final class KeyType<K> {

    private static final int MAX_COLUMNS = 8;

    private final List<KeyColumn> columns;
    private final Function<List<String>, K> decoder;

    KeyType(List<KeyColumn> columns, Function<List<String>, K> decoder) {
        if (columns.isEmpty() || columns.size() > MAX_COLUMNS) {
            throw new InvalidDefinitionException(
                    "A key has 1 to " + MAX_COLUMNS + " columns, got " + columns.size() + ".");
        }
        if (new HashSet<>(columns.stream().map(KeyColumn::name).toList()).size() != columns.size()) {
            throw new InvalidDefinitionException("A key names a column once, got "
                    + columns.stream().map(KeyColumn::name).toList() + ".");
        }
        this.columns = List.copyOf(columns);
        this.decoder = decoder;
    }

    /** The columns, most significant first. */
    public List<KeyColumn> columns() {
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
        String types = columns.stream().map(KeyColumn::codecName).collect(Collectors.joining(","));
        return "v1:" + (columns.size() == 1 ? types : "(" + types + ")");
    }

    @Override
    public String toString() {
        return columns.stream().map(c -> c.name() + " " + c.codecName()).collect(Collectors.joining(", ", "(", ")"));
    }
}
