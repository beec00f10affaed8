package dev.backfill;

import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;

/**
 * Guards one step of a fluent chain of immutable values, so that no call can be lost silently: a step is continued once at most, and
 * only the last step may be used. Thread-safe.
 */
final class Chain {

    private final AtomicReference<@Nullable String> continuedBy = new AtomicReference<>();

    /** The next step, made by this call; call it when the next step exists. */
    <T> T continueWith(String call, T next) {
        String earlier = continuedBy.compareAndExchange(null, call);
        if (earlier != null) {
            throw new InvalidDefinitionException(
                    "A repair was continued twice, by ." + earlier + " and by ." + call
                            + ": one of the two calls would be lost. Write the calls of a repair as one chain, and each repair anew.");
        }
        return next;
    }

    /** Refuses a step that is not the last. */
    void end() {
        String later = continuedBy.get();
        if (later != null) {
            throw new InvalidDefinitionException("A repair was given without its later call ." + later
                    + ", which would be lost. Each call returns a new value: give the result of the last one.");
        }
    }
}
