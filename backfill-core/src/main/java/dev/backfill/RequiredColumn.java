package dev.backfill;

import dev.backfill.internal.Identifiers;
import org.jspecify.annotations.Nullable;

/**
 * A column that must be there before a definition may start or be claimed (CF-8).
 *
 * @param table the table
 * @param column the column, unquoted
 * @param type the type as {@code format_type} writes it, for instance {@code jsonb}; null for any
 * @since 0.1
 */
public record RequiredColumn(
        TableName table, String column, @Nullable String type) {
    /** Checks the name. */
    public RequiredColumn {
        Identifiers.check("column", column, InvalidDefinitionException::new);
    }
}
