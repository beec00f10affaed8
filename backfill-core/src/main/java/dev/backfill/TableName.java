package dev.backfill;

import dev.backfill.internal.Identifiers;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A table of the host, given apart from any SQL and always quoted, so mixed case and reserved words work.
 *
 * @param schema the schema, or null for the one that the connection's search path finds
 * @param name the table
 * @since 0.1
 */
public record TableName(@Nullable String schema, String name) {

    /** Checks both identifiers. */
    public TableName {
        if (schema != null) {
            Identifiers.check("schema", schema, InvalidDefinitionException::new);
        }
        Identifiers.check("table", name, InvalidDefinitionException::new);
    }

    /**
     * Reads {@code table} or {@code schema.table}. For a name that itself holds a dot, use the constructor.
     *
     * @throws InvalidDefinitionException if the text is no such name
     */
    public static TableName of(String text) {
        Objects.requireNonNull(text, "table");
        int dot = text.indexOf('.');
        return dot < 0 ? new TableName(null, text) : new TableName(text.substring(0, dot), text.substring(dot + 1));
    }

    /** The quoted form for SQL. */
    public String quoted() {
        return (schema == null ? "" : Identifiers.quote(schema) + ".") + Identifiers.quote(name);
    }

    @Override
    public String toString() {
        return schema == null ? name : schema + "." + name;
    }
}
