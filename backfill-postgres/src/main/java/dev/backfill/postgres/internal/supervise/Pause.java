package dev.backfill.postgres.internal.supervise;

import java.time.Duration;

/** The only way the engine waits, so that tests decide when a wait is over. */
public interface Pause {

    /** Waits; false when it was cut short by an interrupt, which stays set, or by closing. */
    boolean forAtLeast(Duration wait);

    /** Whether the engine is closing, so that every wait is over. */
    boolean isClosed();
}
