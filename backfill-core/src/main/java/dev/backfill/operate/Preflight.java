package dev.backfill.operate;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What would stand in the way of a backfill, looked up without changing anything.
 *
 * @param errors what refuses the start
 * @param warnings what an operator should know: triggers, rules, foreign keys and the like
 * @param estimates what it will cost, as far as that can be said
 * @since 0.1
 */
public record Preflight(List<Finding> errors, List<Finding> warnings, Estimates estimates) {

    /** Copies the lists. */
    public Preflight {
        errors = List.copyOf(errors);
        warnings = List.copyOf(warnings);
    }

    /**
     * Estimates, each with its basis; null where there is none.
     *
     * @param rows rows in the source
     * @param rowsBasis where that comes from
     * @param walBytes WAL that repairing every row would write
     * @param walBasis where that comes from
     */
    public record Estimates(
            @Nullable Long rows,
            @Nullable String rowsBasis,
            @Nullable Long walBytes,
            @Nullable String walBasis) {}
}
