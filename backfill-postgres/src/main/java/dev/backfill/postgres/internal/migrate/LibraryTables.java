package dev.backfill.postgres.internal.migrate;

import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jooq.DefaultSchema;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import org.jooq.Field;
import org.jooq.Table;

/**
 * Whether every table and column of the library is there. The version alone does not say so: it says which migrations were applied,
 * not what became of the tables since. Stateless.
 */
public final class LibraryTables {

    /** By table, as {@code schema/tables.sql} declares them: the generated classes are made of it. */
    private static final Map<String, Set<String>> DECLARED = DefaultSchema.DEFAULT_SCHEMA.getTables().stream()
            .collect(Collectors.toUnmodifiableMap(Table::getName, LibraryTables::columns));

    // From the catalog by its indexes, without a lock on any table: probes ask this once a second, and a table that is
    // locked is there all the same.
    private static final Sql FOUND = Sql.of("""
            /* backfill:schema */ SELECT wanted.name, k.oid IS NOT NULL AS found,
              ARRAY(SELECT a.attname::text FROM pg_catalog.pg_attribute AS a
                    WHERE a.attrelid = k.oid AND a.attnum > 0 AND NOT a.attisdropped) AS columns
            FROM unnest(:tables::text[]) AS wanted (name) LEFT JOIN pg_catalog.pg_class AS k ON k.relname = wanted.name
              AND k.relkind IN ('r', 'p')
              AND k.relnamespace = (SELECT n.oid FROM pg_catalog.pg_namespace AS n WHERE n.nspname = :schema)
            ORDER BY wanted.name""");

    private LibraryTables() {}

    private static Set<String> columns(Table<?> table) {
        return table.fieldStream().map(Field::getName).collect(Collectors.toUnmodifiableSet());
    }

    /**
     * Fails closed unless every table and column is there.
     *
     * @throws BackfillUnavailableException with the first that is not, and what to do
     */
    public static void require(Session session, Names names) throws SQLException {
        Params params =
                Params.of("tables", DECLARED.keySet().toArray(String[]::new)).and("schema", names.schema());
        try (PreparedStatement statement = FOUND.prepare(session.connection(), params);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                String table = row.getString("name");
                if (!row.getBoolean("found")) {
                    throw missing(Reason.SCHEMA_MISSING, "Table " + table, names);
                }
                requireColumns(names, table, (String[]) row.getArray("columns").getArray());
            }
        }
    }

    private static void requireColumns(Names names, String table, String[] found) {
        Set<String> missing = new HashSet<>(DECLARED.getOrDefault(table, Set.of()));
        missing.removeAll(new HashSet<>(Arrays.asList(found)));
        if (!missing.isEmpty()) {
            String first = Collections.min(missing);
            throw missing(Reason.SCHEMA_INCOMPATIBLE, "Column " + first + " of table " + table, names);
        }
    }

    private static BackfillUnavailableException missing(Reason reason, String what, Names names) {
        return new BackfillUnavailableException(
                reason,
                what + " is missing in schema " + names.schema() + ", although the migration that makes it was applied."
                        + " Restore it from a backup, or make it as the published migrations do.",
                null);
    }
}
