package dev.backfill.postgres.internal.row;

import dev.backfill.BackfillDefinition;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.migrate.Names;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.function.Function;

/** Registers definitions: an idempotent upsert by ID that never touches what a backfill has achieved (ID-1, ID-2). Immutable. */
public final class RegistrationSql {

    private final Names names;
    private final Sql insertMissing;
    private final Sql describe;
    private final Sql kept;

    /** Compiles the statements. */
    public RegistrationSql(Names names) {
        this.names = names;
        // WHERE NOT EXISTS first: ON CONFLICT alone would wait for a batch that holds the row. Sorted, or two boots
        // deadlock.
        insertMissing = names.sql("""
                /* backfill:register */ INSERT INTO {backfill} (id)
                SELECT d.id FROM unnest(:ids::text[]) AS d (id)
                WHERE NOT EXISTS (SELECT 1 FROM {backfill} AS b WHERE b.id = d.id) ORDER BY d.id
                ON CONFLICT (id) DO NOTHING""");
        kept = names.sql("""
                /* backfill:kept */ SELECT NOT EXISTS (SELECT FROM unnest(:ids::text[]) AS d (id) LEFT JOIN {backfill} AS b ON b.id = d.id
                  WHERE b.id IS NULL OR (b.state = 'pending' AND d.id = ANY (:required)))""");
        // Only where something differs or the last registration is a minute old: a thousand restarts must not write a
        // thousand
        // versions, and when a process registered it last tells whether its code is still around.
        describe = names.sql("""
                /* backfill:register */ INSERT INTO {definition} AS o (id, description, labels, table_name, key_codec, style, batch_size,
                  with_write_path, family, library_version)
                SELECT d.id, d.description, d.labels::jsonb, d.table_name, d.key_codec, d.style, d.batch_size::integer,
                  d.with_write_path::boolean, nullif(d.family, ''), :library_version
                FROM unnest(:ids::text[], :descriptions::text[], :labels::text[], :tables::text[], :codecs::text[], :styles::text[],
                  :batch_sizes::text[], :with_write_paths::text[], :families::text[])
                  AS d (id, description, labels, table_name, key_codec, style, batch_size, with_write_path, family)
                WHERE NOT EXISTS (SELECT 1 FROM {definition} AS o
                  WHERE o.id = d.id AND o.updated_at > pg_catalog.now() - interval '1 minute' AND (o.description, o.labels, o.table_name, o.key_codec, o.style, o.batch_size,
                    o.with_write_path, o.family, o.library_version) IS NOT DISTINCT FROM (d.description, d.labels::jsonb, d.table_name,
                    d.key_codec, d.style, d.batch_size::integer, d.with_write_path::boolean, nullif(d.family, ''), :library_version::text))
                ORDER BY d.id
                ON CONFLICT (id) DO UPDATE SET description = excluded.description, labels = excluded.labels,
                  table_name = excluded.table_name, key_codec = excluded.key_codec, style = excluded.style,
                  batch_size = excluded.batch_size, with_write_path = excluded.with_write_path, family = excluded.family,
                  library_version = excluded.library_version, updated_at = pg_catalog.now()""");
    }

    /** Whether each ID has its row, and none of the required ones is pending. */
    public boolean isKept(Session session, Collection<String> ids, Collection<String> required) throws SQLException {
        Params params = Params.of("ids", ids.toArray(new String[0])).and("required", required.toArray(new String[0]));
        try (PreparedStatement statement = kept.prepare(session.connection(), params);
                ResultSet row = statement.executeQuery()) {
            return row.next() && row.getBoolean(1);
        }
    }

    /** Inserts the rows that are missing. */
    public void insertMissing(Session session, Collection<String> sortedIds) throws SQLException {
        try {
            insertMissing.update(session.connection(), Params.of("ids", sortedIds.toArray(new String[0])));
        } catch (SQLException e) {
            // The IDs can't be duplicates: those conflicts are skipped.
            throw IdentityBehindException.of(e, names, "backfill", "no");
        }
    }

    /** Writes descriptive metadata; the last registration wins. */
    public void describe(Session session, Collection<BackfillDefinition<?>> sorted, String libraryVersion)
            throws SQLException {
        describe.update(
                session.connection(),
                Params.of("ids", texts(sorted, d -> d.id().value()))
                        .and("descriptions", texts(sorted, BackfillDefinition::description))
                        .and("labels", texts(sorted, d -> Labels.toJson(d.labels())))
                        .and("tables", texts(sorted, d -> d.table().toString()))
                        .and("codecs", texts(sorted, d -> d.key().codec()))
                        .and("styles", texts(sorted, RegistrationSql::style))
                        .and("batch_sizes", texts(sorted, d -> Integer.toString(d.batchSize())))
                        .and("with_write_paths", texts(sorted, d -> Boolean.toString(d.shipsWithWritePath())))
                        .and(
                                "families",
                                texts(
                                        sorted,
                                        d -> d.part()
                                                .map(p -> p.family().value())
                                                .orElse("")))
                        .and("library_version", libraryVersion));
    }

    private static String style(BackfillDefinition<?> definition) {
        return definition
                .repair()
                .match(
                        update -> "update",
                        rows -> "rows",
                        statement -> "statement",
                        delete -> "delete",
                        custom -> "custom");
    }

    private static String[] texts(
            Collection<BackfillDefinition<?>> definitions, Function<BackfillDefinition<?>, String> part) {
        List<String> texts = new ArrayList<>();
        for (BackfillDefinition<?> definition : definitions) {
            texts.add(part.apply(definition));
        }
        return texts.toArray(new String[0]);
    }
}
