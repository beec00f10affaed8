package dev.backfill.postgres.internal.migrate;

import dev.backfill.InvalidDefinitionException;
import dev.backfill.internal.Identifiers;
import dev.backfill.postgres.internal.jdbc.Sql;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The library's tables under their qualified names: resolved once, then never left to a search path.
 *
 * @param schema the schema, unquoted
 */
public record Names(String schema) {

    /** What a script writes before each name; see {@code schema/tables.sql}. */
    static final String SCRIPT_MARK = "/*schema.*/";

    private static final List<String> TABLES =
            List.of("definition", "validation", "request", "audit", "pace", "family", "schema_version");

    /** Checks the schema's name. */
    public Names {
        Identifiers.check("schema", schema, InvalidDefinitionException::new);
    }

    /** Compiles a statement in which {@code {backfill}}, {@code {definition}} and so on stand for the tables. */
    public Sql sql(String template) {
        return sql(template, Map.of());
    }

    /** As {@link #sql(String)}, with more fragments. */
    public Sql sql(String template, Map<String, String> more) {
        Map<String, String> fragments = new HashMap<>(more);
        fragments.put("backfill", qualified("backfill"));
        for (String table : TABLES) {
            fragments.put(table, qualified("backfill_" + table));
        }
        return Sql.of(template, fragments);
    }

    /** A script of the schema folder with every name qualified. */
    String script(String text) {
        return text.replace(SCRIPT_MARK, Identifiers.quote(schema) + ".");
    }

    /** The quoted name of a table of the library. */
    public String qualified(String table) {
        return Identifiers.quote(schema) + "." + Identifiers.quote(table);
    }
}
