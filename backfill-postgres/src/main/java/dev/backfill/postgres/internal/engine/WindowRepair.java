package dev.backfill.postgres.internal.engine;

import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.store.Claim;
import dev.backfill.postgres.internal.store.PageSql;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Selects the next window of source keys and repairs it, in the transaction that a batch has begun. The window is strictly after
 * the checkpoint, not beyond the bound, and no larger than the limit; the engine and not the author derives its end (BB-1, SR-7).
 */
interface WindowRepair {

    /** Does it. Whatever it throws rolls the batch back. */
    Window run(Session session, Claim claim, int limit) throws Exception;

    /** The statement that selects a window, and for SQL over the window repairs it too: what a preflight plans. */
    PageSql.Pair statement();

    /**
     * What became of it.
     *
     * @param last the greatest key that was selected; null when no key is left
     * @param scanned keys selected
     * @param changed rows changed
     */
    record Window(@Nullable List<String> last, long scanned, long changed) {
        static final Window END_OF_SOURCE = new Window(null, 0, 0);
    }
}
