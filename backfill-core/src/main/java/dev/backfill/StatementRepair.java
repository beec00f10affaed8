package dev.backfill;

import dev.backfill.internal.CheckReturnValue;
import java.util.List;

/**
 * Repairs a window with one statement of the author's that takes the window's rows from {@value #WINDOW}: an INSERT, UPDATE, DELETE or
 * MERGE over any table. The window's rows are locked in the order of their keys, in {@code SHARE} mode, so that a concurrent update or
 * delete of one of them waits or is seen. Immutable and thread-safe. Made by {@link Repair#statement}.
 *
 * @since 0.1
 */
@CheckReturnValue
public final class StatementRepair implements Repair {

    /** Stands in the statement where a table would: the rows of the window, with all columns of the source table. */
    public static final String WINDOW = "{window}";

    private final Chain chain = new Chain();
    private final List<String> parts;
    private final boolean locks;

    StatementRepair(List<String> parts, boolean locks) {
        this.parts = parts;
        this.locks = locks;
    }

    /**
     * Reads the window's rows without locking them: only where nobody changes or deletes them while the backfill runs. A concurrent
     * change may be lost otherwise.
     */
    public StatementRepair unlocked() {
        return chain.continueWith("unlocked()", new StatementRepair(parts, false));
    }

    StatementRepair complete() {
        chain.end();
        return this;
    }

    /** The statement, with {@value #WINDOW} in it. */
    public String sql() {
        return over(WINDOW);
    }

    /**
     * The statement over a relation.
     *
     * @param relation what stands where {@value #WINDOW} does, for instance the name of a CTE
     */
    public String over(String relation) {
        return String.join(relation, parts);
    }

    /** Whether the window's rows are locked before the statement reads them. */
    public boolean locksWindow() {
        return locks;
    }
}
