package dev.backfill;

import java.util.List;

/**
 * The window of one batch: a bounded run of source keys, strictly after the checkpoint and not beyond the bound (SR-3). Confined to
 * the worker thread and to the call it was handed to.
 *
 * @param <K> the key
 * @since 0.1
 */
public interface Batch<K> {

    /** The backfill. */
    BackfillId id();

    /** The keys in the window, in PostgreSQL's order; never empty, never more than the declared batch size (BB-1). */
    List<K> keys();

    /** The number of keys, without decoding them. */
    int size();
}
