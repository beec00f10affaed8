package dev.backfill;

import java.util.List;

/**
 * A decoded key of several columns.
 *
 * @param parts the decoded columns, most significant first
 * @since 0.1
 */
public record CompoundKey(List<Object> parts) {

    /** Copies the parts. */
    public CompoundKey {
        parts = List.copyOf(parts);
    }

    /**
     * One part.
     *
     * @param index position in the key, from 0
     * @param type what its {@link KeyType} decodes to
     */
    public <T> T part(int index, Class<T> type) {
        return type.cast(parts.get(index));
    }
}
