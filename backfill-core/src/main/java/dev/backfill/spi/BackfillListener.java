package dev.backfill.spi;

/**
 * Hears of what the engine does. Each listener is called on a thread of its own, after the transaction ended, in the
 * order in which things happened to one claim. An exception is logged; a listener that hangs is reported, and one that is too slow
 * loses events rather than delaying work; none of this changes an outcome or reaches another listener. Closing the engine gives a
 * listener a second for what is still queued.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface BackfillListener {
    /** One thing that happened. */
    void on(BackfillEvent event);
}
