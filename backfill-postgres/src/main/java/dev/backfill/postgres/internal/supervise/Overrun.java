package dev.backfill.postgres.internal.supervise;

/** What follows when code did not heed its interrupt: only who calls it knows. Called from the supervisor's threads. */
public interface Overrun {

    /**
     * Takes away what the code works with, its session for instance: at the interrupt, and again once it was not heeded.
     *
     * @return whether its thread is inside a definition's code, so that it counts as stuck
     */
    default boolean abandon() {
        return true;
    }

    /**
     * Records that it does not come back.
     *
     * @return false to be asked again a little later, unless it has come back meanwhile
     */
    default boolean record() {
        return true;
    }
}
