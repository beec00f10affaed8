package dev.backfill;

import java.util.function.Function;

/**
 * A read-only proof that the postcondition holds through the bound (VA-2). Only its success completes a backfill.
 *
 * @since 0.1
 */
public sealed interface Validation permits NoRowMatches, CustomValidation {

    /**
     * Holds when no row of the source table at or below the bound satisfies a SQL condition; the engine adds the bound, and in a part
     * of a family the lower end of its range.
     *
     * @param condition what an unrepaired row looks like: one SQL condition of the host's own code
     * @throws InvalidDefinitionException if it is not one complete condition
     */
    static Validation noRowMatches(String condition) {
        return new NoRowMatches(condition);
    }

    /** Calls the function of the proof at hand; adding a kind breaks every caller at compile time. */
    default <T> T match(
            Function<? super NoRowMatches, ? extends T> noRowMatches,
            Function<? super CustomValidation<?>, ? extends T> custom) {
        return this instanceof NoRowMatches proof
                ? noRowMatches.apply(proof)
                : custom.apply((CustomValidation<?>) this);
    }
}
