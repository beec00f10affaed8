package dev.backfill.spring;

import dev.backfill.host.Backfills;

/**
 * Says what properties and beans can't. Every bean of this type is called once, in order, before the engine starts.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface BackfillsCustomizer {

    /** Changes what the starter has collected. */
    void customize(Backfills.Builder backfills);
}
