package dev.backfill.postgres.internal.batch;

import dev.backfill.postgres.internal.batch.WriteBackSql.Write;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.row.Claim;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Selects the next window of source keys and repairs it, in the transaction that a batch has begun. The window is strictly after
 * the checkpoint, not beyond the bound, and no larger than the limit; the engine and not the author derives its end (BB-1, SR-7).
 */
public interface WindowRepair {

    /** The statement that every batch sends first; it selects a window, and for SQL over the window repairs it too. */
    PageSql.Forms first();

    /** The same over a longer look, in which few rows need the repair; null where a window repairs all that it looks at. */
    default PageSql.@Nullable Forms firstOfLook() {
        return null;
    }

    /** The rows that need it, for the question whether an index serves them; null where that can't be said. */
    default PageSql.@Nullable Forms inNeed() {
        return null;
    }

    /** The one of both that fits. */
    default PageSql.Forms first(WindowSize size) {
        PageSql.Forms further = firstOfLook();
        return size.looksFurther() && further != null ? further : first();
    }

    /** Whether the row must be looked at before that statement is sent, because it has triggers that fire for no row, too. */
    default boolean looksAlone() {
        return false;
    }

    /** The same as one statement, which a preflight can plan. */
    default PageSql.Forms planned() {
        return first();
    }

    /** Its only statement, if there is only one, and the page's end is told; it may travel with look, fence and COMMIT. */
    default PageSql.@Nullable Forms inOneFlush(WindowSize size) {
        return null;
    }

    /** How the values that a Java function computes are written back. */
    default Optional<WriteBackSql> writeBack() {
        return Optional.empty();
    }

    /**
     * Repairs the window. Whatever it throws rolls the batch back.
     *
     * @param first the first statement, executed, and at its first result
     */
    Window run(Session session, Claim claim, WindowSize size, PreparedStatement first) throws Exception;

    /**
     * What became of it.
     *
     * @param last the greatest key that was selected; null when no key is left
     * @param scanned keys selected
     * @param changed rows changed so far
     * @param unsent computed values that are to be written still; null for none
     */
    record Window(
            @Nullable List<String> last,
            long scanned,
            long changed,
            @Nullable Write unsent) {

        static final Window END_OF_SOURCE = new Window(null, 0, 0);

        Window(@Nullable List<String> last, long scanned, long changed) {
            this(last, scanned, changed, null);
        }

        /** The same with everything written. */
        public Window sent(Session session) throws SQLException, BreachException {
            return unsent == null ? this : new Window(last, scanned, unsent.send(session));
        }
    }
}
