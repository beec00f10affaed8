package dev.backfill;

/**
 * Repairs a window with the author's own code inside the batch's transaction.
 *
 * <p>Called on a worker's thread, or a rehearsal's, with a transaction open; must be safe to call again for the same window after a rollback. The
 * engine selects the window, derives the next checkpoint and commits; committing, rolling back or closing here is refused (AT-2).
 * Keys are selected, not locked: lock what you compute from ({@code SELECT … FOR NO KEY UPDATE}, in key order).
 *
 * @param <K> the key
 * @since 0.1
 */
@FunctionalInterface
public non-sealed interface CustomRepair<K> extends Repair {

    /**
     * Repairs every row of the window that needs it.
     *
     * @param batch the window's keys
     * @param transaction the transaction that also carries the checkpoint
     * @return rows changed, for the counter that operators see; at least 0
     * @throws Exception rolls the batch back; {@link BlockedException} and {@link RetryableException} choose what happens next
     */
    long repair(Batch<K> batch, RepairTransaction transaction) throws Exception;
}
