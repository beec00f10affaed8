package dev.backfill;

/**
 * Hears of what the engine does. Called on a thread of its own, after the transaction ended; an exception is logged and counted,
 * a slow listener loses events rather than delaying work, and neither changes an outcome.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface BackfillListener {
    /** One thing that happened. */
    void on(BackfillEvent event);
}
