package dev.backfill.operate;

/**
 * Something that preflight or the schema check found.
 *
 * @param code what kind of thing, from the vocabulary in {@code docs/operate.md}
 * @param subject the table, column, index or trigger
 * @param message what is wrong, the rule, and what to do
 * @since 0.1
 */
public record Finding(String code, String subject, String message) {}
