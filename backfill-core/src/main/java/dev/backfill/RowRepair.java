package dev.backfill;

import dev.backfill.internal.BoundedText;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Repairs a window with a Java function over its locked rows; the results are written back in one statement, and rows whose values
 * don't differ are not rewritten. Immutable and thread-safe, provided the functions are.
 *
 * @since 0.1
 */
public final class RowRepair implements Repair {

    private final List<String> reads;
    private final List<Output> writes;
    private final @Nullable String condition;

    private RowRepair(List<String> reads, List<Output> writes, @Nullable String condition) {
        this.reads = List.copyOf(reads);
        this.writes = List.copyOf(writes);
        this.condition = condition;
    }

    /** Names the columns the functions read. */
    public static Reading reading(String... columns) {
        Set<String> distinct = new LinkedHashSet<>();
        for (String column : Objects.requireNonNull(columns, "columns")) {
            distinct.add(Identifiers.check("column", column));
        }
        return new Reading(List.copyOf(distinct));
    }

    /** Writes one more column. */
    public RowRepair andWriting(String column, Function<? super Row, ? extends @Nullable Object> value) {
        if (writes.stream().anyMatch(output -> output.column().equals(column))) {
            throw new InvalidDefinitionException(
                    "The repair writes column " + BoundedText.clean(column, 63) + " twice. Give it one function.");
        }
        List<Output> more = new ArrayList<>(writes);
        more.add(new Output(column, value));
        return new RowRepair(reads, more, condition);
    }

    /** Only rows for which this SQL condition holds are locked and repaired; the window still moves over all keys (SR-7). */
    public RowRepair where(String stillNeedsIt) {
        return new RowRepair(reads, writes, SqlFragments.check("where", stillNeedsIt));
    }

    /** The columns the functions read. */
    public List<String> reads() {
        return reads;
    }

    /** The columns written, each with its function. */
    public List<Output> writes() {
        return writes;
    }

    /** Which rows the function is called for; null for every row. */
    public @Nullable String condition() {
        return condition;
    }

    /**
     * The columns read; the next word says what is written.
     *
     * @param columns columns, unquoted
     */
    public record Reading(List<String> columns) {
        /**
         * Writes a column with the result of a function over one locked row.
         *
         * @param column the column, unquoted
         * @param value called once per row on a worker's thread, or a rehearsal's, with a transaction open; may return null, text,
         *     a number, a boolean, a UUID, a date or time of {@code java.time}, an enum (for its {@code toString}) or a
         *     {@code byte[]}
         */
        public RowRepair writing(String column, Function<? super Row, ? extends @Nullable Object> value) {
            return new RowRepair(columns, List.of(new Output(column, value)), null);
        }
    }

    /**
     * One written column.
     *
     * @param column the column, unquoted
     * @param value the function over a row
     */
    public record Output(String column, Function<? super Row, ? extends @Nullable Object> value) {
        /** Checks the name. */
        public Output {
            Identifiers.check("column", column);
            Objects.requireNonNull(value, "value");
        }
    }
}
