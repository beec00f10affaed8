package dev.backfill.host;

/**
 * What startup does about the library's own tables.
 *
 * @since 0.1
 */
public enum SchemaMode {
    /** Applies missing migrations under a lock, then verifies. */
    MIGRATE,
    /** Only verifies; a missing or too old schema is a schema failure of its own. */
    VERIFY
}
