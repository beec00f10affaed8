package dev.backfill;

import dev.backfill.internal.BoundedText;
import dev.backfill.internal.CheckReturnValue;
import dev.backfill.internal.Identifiers;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Repairs a window with one UPDATE: the fastest style. Expressions and conditions are SQL of the host's own code, never input; they see
 * the columns of the source table and those of {@link #from}, and may use any operator, JSON's {@code ?} included.
 *
 * <p>Say in {@link #where} which rows still need the repair. A row whose values would not change is not rewritten, unless
 * {@link #rewriteUnchanged} says so. Immutable and thread-safe. Made by {@link Repair#update}.
 *
 * @since 0.1
 */
@CheckReturnValue
public final class UpdateRepair implements Repair {

    private final Chain chain = new Chain();
    private final Map<String, String> assignments;
    private final @Nullable String from;
    private final @Nullable String on;
    private final @Nullable String condition;
    private final boolean rewriteUnchanged;

    private UpdateRepair(
            Map<String, String> assignments,
            @Nullable String from,
            @Nullable String on,
            @Nullable String condition,
            boolean rewriteUnchanged) {
        this.assignments = Collections.unmodifiableMap(assignments);
        this.from = from;
        this.on = on;
        this.condition = condition;
        this.rewriteUnchanged = rewriteUnchanged;
    }

    static UpdateRepair empty() {
        return new UpdateRepair(Map.of(), null, null, null, false);
    }

    /**
     * Sets one more column of the source table to the value of a SQL expression over the same row, and over the joined one where
     * {@link #from} names a table.
     *
     * @param column the column, unquoted
     * @param expression one SQL expression
     * @throws InvalidDefinitionException if the column is set already, or one of the two can't be what it should be
     */
    public UpdateRepair set(String column, String expression) {
        Identifiers.check("column", column, InvalidDefinitionException::new);
        SqlFragments.check("set " + column, expression);
        Map<String, String> more = new LinkedHashMap<>(assignments);
        if (more.put(column, expression) != null) {
            throw new InvalidDefinitionException(
                    "The repair sets column " + BoundedText.clean(column, 63) + " twice. Give it one expression.");
        }
        return chain.continueWith(
                "set(\"" + BoundedText.clean(column, 63) + "\", …)",
                new UpdateRepair(more, from, on, condition, rewriteUnchanged));
    }

    /**
     * Looks values up in other tables, as UPDATE … FROM does: {@code .from("parents AS p").on("p.id = child.parent_id")}. A source row
     * without a match is not touched; each may match one row at most.
     *
     * @param tables one or more tables, with aliases and joins as SQL's FROM clause has them
     * @throws InvalidDefinitionException if given already
     */
    public UpdateRepair from(String tables) {
        SqlFragments.tables("from", tables);
        SqlFragments.once("from", from);
        return chain.continueWith("from(…)", new UpdateRepair(assignments, tables, on, condition, rewriteUnchanged));
    }

    /**
     * How a source row finds its row in {@link #from}. Columns of the source table are qualified with its name, without the schema.
     *
     * @param join one SQL condition
     * @throws InvalidDefinitionException if given already
     */
    public UpdateRepair on(String join) {
        SqlFragments.check("on", join);
        SqlFragments.once("on", on);
        return chain.continueWith("on(…)", new UpdateRepair(assignments, from, join, condition, rewriteUnchanged));
    }

    /**
     * Only rows for which this SQL condition holds are changed; the window still moves over all keys (SR-7).
     *
     * @param stillNeedsIt one SQL condition
     * @throws InvalidDefinitionException if given already
     */
    public UpdateRepair where(String stillNeedsIt) {
        SqlFragments.check("where", stillNeedsIt);
        SqlFragments.once("where", condition);
        return chain.continueWith("where(…)", new UpdateRepair(assignments, from, on, stillNeedsIt, rewriteUnchanged));
    }

    /**
     * Rewrites each row that {@link #where} names, also where no value would change, and so spares the comparison: for expressions that
     * are dear to evaluate twice, or for triggers that shall run.
     */
    public UpdateRepair rewriteUnchanged() {
        return chain.continueWith("rewriteUnchanged()", new UpdateRepair(assignments, from, on, condition, true));
    }

    UpdateRepair complete() {
        chain.end();
        if (assignments.isEmpty()) {
            throw new InvalidDefinitionException("The repair sets no column. Add .set(\"column\", \"expression\").");
        }
        if ((from == null) != (on == null)) {
            throw new InvalidDefinitionException(
                    "The repair names only one of .from(...) and .on(...). Name the tables and how their rows are found.");
        }
        return this;
    }

    /** The columns and the SQL expressions they are set to, in the order in which they were named. */
    public Map<String, String> assignments() {
        return assignments;
    }

    /** The other tables; empty where there are none. */
    public Optional<String> from() {
        return Optional.ofNullable(from);
    }

    /** How a source row finds its row in {@link #from()}; present if that is. */
    public Optional<String> on() {
        return Optional.ofNullable(on);
    }

    /** Which rows still need the repair; empty for every row whose values would change. */
    public Optional<String> condition() {
        return Optional.ofNullable(condition);
    }

    /** Whether rows are rewritten whose values would not change. */
    public boolean rewritesUnchanged() {
        return rewriteUnchanged;
    }
}
