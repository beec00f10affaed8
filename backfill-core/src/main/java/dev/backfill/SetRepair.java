package dev.backfill;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Repairs a window with one UPDATE: the fastest style. Expressions and the condition are SQL of the host's own code, never input;
 * they see the columns of the source table and may use any operator, JSON's {@code ?} included.
 *
 * <p>State in {@link #where} which rows still need the repair, so that done rows are not rewritten. Immutable and thread-safe.
 *
 * @since 0.1
 */
public final class SetRepair implements Repair {

    private final List<Assignment> assignments;
    private final @Nullable String condition;

    private SetRepair(List<Assignment> assignments, @Nullable String condition) {
        this.assignments = List.copyOf(assignments);
        this.condition = condition;
    }

    /** Sets a column of the source table to the value of a SQL expression over the same row. */
    public static SetRepair set(String column, String expression) {
        return new SetRepair(List.of(new Assignment(column, expression)), null);
    }

    /** Sets one more column. */
    public SetRepair andSet(String column, String expression) {
        List<Assignment> more = new ArrayList<>(assignments);
        more.add(new Assignment(column, expression));
        return new SetRepair(more, condition);
    }

    /**
     * Only rows for which this SQL condition holds are changed; the window still moves over all keys (SR-7). Without it only rows that
     * would differ are, for which the expressions are evaluated for each row.
     */
    public SetRepair where(String stillNeedsIt) {
        return new SetRepair(assignments, SqlFragments.check("where", stillNeedsIt));
    }

    /** The columns and what they are set to. */
    public List<Assignment> assignments() {
        return assignments;
    }

    /** Which rows still need the repair; null for every row whose value would change. */
    public @Nullable String condition() {
        return condition;
    }

    /**
     * One column and the SQL expression it is set to.
     *
     * @param column the column, unquoted
     * @param expression a SQL expression
     */
    public record Assignment(String column, String expression) {
        /** Checks both. */
        public Assignment {
            Identifiers.check("column", column);
            SqlFragments.check("set " + column, expression);
        }
    }
}
