package dev.backfill.operate;

import java.util.Locale;

/**
 * Something that preflight or the schema check found.
 *
 * @param code what kind of thing
 * @param subject the table, column, index or trigger
 * @param message what is wrong, the rule, and what to do
 * @since 0.1
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
