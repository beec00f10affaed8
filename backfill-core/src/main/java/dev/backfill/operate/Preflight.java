package dev.backfill.operate;

import java.util.List;
import java.util.Locale;
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

    /**
     * Something that preflight or the schema check found.
     *
     * @param code what kind of thing
     * @param subject the table, column, index or trigger
     * @param message what is wrong, the rule, and what to do
     */
    public record Finding(Code code, String subject, String message) {

        /** The kinds of thing that are found; {@code docs/operate.md} says of each what it means and what to do. */
        public enum Code {
            /** See {@code docs/operate.md}. */
            TABLE_MISSING,
            /** See {@code docs/operate.md}. */
            COLUMN_MISSING,
            /** See {@code docs/operate.md}. */
            COLUMN_TYPE,
            /** See {@code docs/operate.md}. */
            COLUMN_GENERATED,
            /** See {@code docs/operate.md}. */
            PRIVILEGE_MISSING,
            /** See {@code docs/operate.md}. */
            KEY_TYPE,
            /** See {@code docs/operate.md}. */
            KEY_TYPE_UNORDERED,
            /** See {@code docs/operate.md}. */
            KEY_ROUND_TRIP,
            /** See {@code docs/operate.md}. */
            KEY_NULLABLE,
            /** See {@code docs/operate.md}. */
            KEY_NOT_UNIQUE,
            /** See {@code docs/operate.md}. */
            TABLE_INHERITED,
            /** See {@code docs/operate.md}. */
            UPDATE_REPLACED,
            /** See {@code docs/operate.md}. */
            KEY_NOT_INDEXED,
            /** See {@code docs/operate.md}. */
            COLLATION_MISSING,
            /** See {@code docs/operate.md}. */
            COLLATION_NONDETERMINISTIC,
            /** See {@code docs/operate.md}. */
            COLLATION_VERSION_CHANGED,
            /** See {@code docs/operate.md}. */
            TARGET_CHANGED,
            /** See {@code docs/operate.md}. */
            NEVER_MATCHES,
            /** See {@code docs/operate.md}. */
            STATEMENT_INVALID,
            /** See {@code docs/operate.md}. */
            STORED_KEY_UNREADABLE,
            /** See {@code docs/operate.md}. */
            LOOKUP_READS_TABLE,
            /** See {@code docs/operate.md}. */
            PLAN_READS_TABLE,
            /** See {@code docs/operate.md}. */
            FAMILY_PARTS_CHANGED,
            /** See {@code docs/operate.md}. */
            FAMILY_KEY_CHANGED,
            /** See {@code docs/operate.md}. */
            FAMILY_PART_STARTED_ALONE,
            /** See {@code docs/operate.md}. */
            TRIGGER_FIRES,
            /** See {@code docs/operate.md}. */
            RULE_FIRES,
            /** See {@code docs/operate.md}. */
            FOREIGN_KEY_CHECKED,
            /** See {@code docs/operate.md}. */
            FOREIGN_KEY_REFERENCED,
            /** See {@code docs/operate.md}. */
            GENERATED_COLUMN_RECOMPUTED,
            /** See {@code docs/operate.md}. */
            PUBLISHED,
            /** See {@code docs/operate.md}. */
            WRITTEN_COLUMN_INDEXED,
            /** See {@code docs/operate.md}. */
            AUTOVACUUM_OFF,
            /** See {@code docs/operate.md}. */
            NEVER_ANALYSED,
            /** See {@code docs/operate.md}. */
            WRITERS_OPEN;

            /** The name in the HTTP API and logs, for instance {@code column_missing}. */
            public String wireName() {
                return name().toLowerCase(Locale.ROOT);
            }
        }
    }
}
