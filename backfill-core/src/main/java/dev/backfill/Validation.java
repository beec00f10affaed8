package dev.backfill;

import java.util.function.Function;

/**
 * A read-only proof that the postcondition holds through the bound (VA-2). Only its success completes a backfill.
 *
 * @since 0.1
 */
public sealed interface Validation {

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
            Function<? super NoRowMatches, ? extends T> noRowMatches, Function<? super Custom<?>, ? extends T> custom) {
        return this instanceof NoRowMatches proof ? noRowMatches.apply(proof) : custom.apply((Custom<?>) this);
    }

    /**
     * The common proof; see {@link Validation#noRowMatches}.
     *
     * @param condition what an unrepaired row looks like
     */
    record NoRowMatches(String condition) implements Validation {
        /** Refuses what is not one complete condition. */
        public NoRowMatches {
            SqlFragments.check("noRowMatches", condition);
        }
    }

    /**
     * A proof by the author's own queries, in a READ ONLY, REPEATABLE READ transaction that is always rolled back.
     *
     * @param <K> the key
     */
    @FunctionalInterface
    non-sealed interface Custom<K> extends Validation {

        /**
         * Looks at the authoritative rows through the bound. Called on a thread of the engine, a worker's or one beside the operator who
         * asked, so that the host's thread-locals are not there; may be called again after a crash, and at the same time as normal writers work.
         *
         * @return whether the postcondition holds
         * @throws Exception if it could not run; that is retried, not taken for a failure (RB-6)
         */
        ValidationOutcome check(ValidationTransaction<K> transaction) throws Exception;
    }
}
