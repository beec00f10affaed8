package dev.backfill;

import dev.backfill.internal.BoundedText;
import dev.backfill.internal.CheckReturnValue;
import dev.backfill.internal.Identifiers;
import java.math.BigDecimal;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Repairs a window with Java functions over its locked rows; the results are written back in one statement, and rows whose values
 * don't differ are not rewritten. Immutable and thread-safe, provided the functions are. Made by {@link Repair#rows}.
 *
 * @since 0.1
 */
@CheckReturnValue
public final class RowRepair implements Repair {

    private final Chain chain = new Chain();
    private final List<String> reads;
    private final Map<String, Function<? super Row, ? extends @Nullable Object>> writes;
    private final @Nullable String condition;

    private RowRepair(
            List<String> reads,
            Map<String, Function<? super Row, ? extends @Nullable Object>> writes,
            @Nullable String condition) {
        this.reads = List.copyOf(reads);
        this.writes = Collections.unmodifiableMap(writes);
        this.condition = condition;
    }

    static RowRepair empty() {
        return new RowRepair(List.of(), Map.of(), null);
    }

    /**
     * Names columns that the functions read; called again, it names more.
     *
     * @param columns columns of the source table, unquoted
     */
    public RowRepair reading(String... columns) {
        Set<String> all = new LinkedHashSet<>(reads);
        for (String column : Objects.requireNonNull(columns, "columns")) {
            all.add(Identifiers.check("column", column, InvalidDefinitionException::new));
        }
        return chain.continueWith("reading(…)", new RowRepair(List.copyOf(all), writes, condition));
    }

    /**
     * Writes one more column with the result of a function over one locked row.
     *
     * @param column the column, unquoted
     * @param value called once per row on a worker's thread, or a rehearsal's, with a transaction open; may return null, text,
     *     a number, a boolean, a UUID, a date or time of {@code java.time}, an enum (for its {@code toString}) or a {@code byte[]}
     * @throws InvalidDefinitionException if the column is written already, or its name can't be one
     */
    public RowRepair writing(String column, Function<? super Row, ? extends @Nullable Object> value) {
        Identifiers.check("column", column, InvalidDefinitionException::new);
        Objects.requireNonNull(value, "value");
        Map<String, Function<? super Row, ? extends @Nullable Object>> more = new LinkedHashMap<>(writes);
        if (more.put(column, value) != null) {
            throw new InvalidDefinitionException(
                    "The repair writes column " + BoundedText.clean(column, 63) + " twice. Give it one function.");
        }
        return chain.continueWith(
                "writing(\"" + BoundedText.clean(column, 63) + "\", …)", new RowRepair(reads, more, condition));
    }

    /**
     * Only rows for which this SQL condition holds are locked and repaired; the window still moves over all keys (SR-7).
     *
     * @param stillNeedsIt one SQL condition
     * @throws InvalidDefinitionException if given already
     */
    public RowRepair where(String stillNeedsIt) {
        SqlFragments.check("where", stillNeedsIt);
        SqlFragments.once("where", condition);
        return chain.continueWith("where(…)", new RowRepair(reads, writes, stillNeedsIt));
    }

    RowRepair complete() {
        chain.end();
        if (writes.isEmpty()) {
            throw new InvalidDefinitionException("The repair writes no column. Add .writing(\"column\", row -> …).");
        }
        return this;
    }

    /** The columns the functions read. */
    public List<String> reads() {
        return reads;
    }

    /** The columns written, each with its function, in the order in which they were named. */
    public Map<String, Function<? super Row, ? extends @Nullable Object>> writes() {
        return writes;
    }

    /** Which rows the functions are called for; empty for every row. */
    public Optional<String> condition() {
        return Optional.ofNullable(condition);
    }

    /**
     * One locked row as a {@link RowRepair} sees it. Values come from PostgreSQL's text form, so nothing is lost. Confined to the call.
     *
     * <p>Every method throws {@link InvalidDefinitionException} for a column that was not named in {@link RowRepair#reading}.
     */
    public interface Row {

        /** The value as PostgreSQL writes it, in ISO date style and UTC; null for NULL. */
        @Nullable
        String text(String column);

        /** Whether the value is NULL. */
        default boolean isNull(String column) {
            return text(column) == null;
        }

        /** An integer of any width; null for NULL. */
        default @Nullable Long bigint(String column) {
            String text = text(column);
            return text == null ? null : Long.valueOf(text);
        }

        /** A numeric; null for NULL. */
        default @Nullable BigDecimal numeric(String column) {
            String text = text(column);
            return text == null ? null : new BigDecimal(text);
        }

        /** A boolean; null for NULL. */
        default @Nullable Boolean bool(String column) {
            String text = text(column);
            return text == null ? null : Boolean.valueOf(text.startsWith("t"));
        }

        /** A UUID; null for NULL. */
        default @Nullable UUID uuid(String column) {
            String text = text(column);
            return text == null ? null : UUID.fromString(text);
        }
    }
}
