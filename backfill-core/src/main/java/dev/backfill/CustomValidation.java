package dev.backfill;

/**
 * A proof by the author's own queries, in a READ ONLY, REPEATABLE READ transaction that is always rolled back.
 *
 * @param <K> the key
 * @since 0.1
 */
@FunctionalInterface
public non-sealed interface CustomValidation<K> extends Validation {

    /**
     * Looks at the authoritative rows through the bound. Called on a thread of the engine, a worker's or one beside the operator who
     * asked, so that the host's thread-locals are not there; may be called again after a crash, and at the same time as normal writers work.
     *
     * @return whether the postcondition holds
     * @throws Exception if it could not run; that is retried, not taken for a failure (RB-6)
     */
    ValidationOutcome check(ValidationTransaction<K> transaction) throws Exception;
}
