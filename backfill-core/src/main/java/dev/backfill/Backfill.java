package dev.backfill;

import java.util.Objects;

/**
 * Where a definition begins: {@code Backfill.define("events.thread-root.v1").over("events", Keys.bigint("id"))…build()}.
 *
 * @since 0.1
 */
public final class Backfill {

    private Backfill() {}

    /**
     * Begins a definition under a stable ID.
     *
     * <p><b>Before anybody starts it</b>: the write path that keeps the postcondition must be fully rolled out, and old writers,
     * in-flight transactions included, drained. The library can't verify that. If it was violated, the checkpoint may be past rows
     * that were never repaired, and only a new ID can revisit them (ID-7).
     *
     * @throws InvalidDefinitionException if the ID breaks the rule of {@link BackfillId}
     */
    public static Draft define(String id) {
        return new Draft(BackfillId.of(id), "");
    }

    /** A definition that has no source yet. */
    public static final class Draft {

        private final BackfillId id;
        private final String description;

        private Draft(BackfillId id, String description) {
            this.id = id;
            this.description = description;
        }

        /** One sentence for operators; cut to 500 characters. */
        public Draft describedAs(String sentence) {
            return new Draft(id, Objects.requireNonNull(sentence, "sentence"));
        }

        /**
         * Names the source set: every row of a table, walked in the order of a key.
         *
         * @param table {@code table} or {@code schema.table}
         * @param key a NOT NULL, unique, indexed key of that table
         */
        public <K> BackfillDefinition.Builder<K> over(String table, KeyType<K> key) {
            return over(TableName.of(table), key);
        }

        /** As {@link #over(String, KeyType)}, for names that hold a dot. */
        public <K> BackfillDefinition.Builder<K> over(TableName table, KeyType<K> key) {
            return new BackfillDefinition.Builder<>(
                    id, description, Objects.requireNonNull(table, "table"), Objects.requireNonNull(key, "key"));
        }
    }
}
