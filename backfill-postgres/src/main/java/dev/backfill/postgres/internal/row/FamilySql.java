package dev.backfill.postgres.internal.row;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Family;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.migrate.Names;
import java.sql.Array;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The key ranges of families: captured by the first start of any part, read by the others, never changed. Immutable. */
public final class FamilySql {

    private final String schema;
    private final Sql hold;
    private final Sql share;
    private final Sql find;
    private final Sql capture;
    private final Sql startedAlone;

    /** Compiles the statements. */
    public FamilySql(Names names) {
        schema = names.schema();
        String key = "(pg_catalog.hashtextextended('backfill family ' || :name::text, 0))";
        hold = names.sql("/* backfill:family */ SELECT pg_catalog.pg_advisory_xact_lock" + key);
        share = names.sql("/* backfill:family */ SELECT pg_catalog.pg_advisory_xact_lock_shared" + key);
        find = names.sql("""
                /* backfill:family */ SELECT parts, key_codec, bound, splits, captured_at FROM {family} WHERE family = :family""");
        // Of concurrent starts of different parts one writes, and the others wait for it and read what it wrote.
        capture = names.sql("""
                /* backfill:family */ INSERT INTO {family} (family, parts, key_codec, bound, bound_empty, splits)
                VALUES (:family, :parts, :key_codec, :bound::text[], :bound::text[] IS NULL, :splits::text[])
                ON CONFLICT (family) DO NOTHING""");
        startedAlone = names.sql("""
                /* backfill:family */ SELECT b.id FROM {backfill} AS b
                WHERE b.id = ANY (:ids) AND b.state <> 'pending' AND b.range_parts IS NULL ORDER BY b.id LIMIT 1""");
    }

    /**
     * A part's range.
     *
     * @param parts how many parts there are; null for a whole source
     * @param low the exclusive lower bound; null where it begins with the first key
     * @param bound the inclusive upper bound; null where there is no key
     * @param share which share of the source's rows it has, about
     * @param capturedAt when the bound was captured; null for now
     */
    public record Range(
            @Nullable Integer parts,
            @Nullable List<String> low,
            @Nullable List<String> bound,
            double share,
            @Nullable Instant capturedAt) {

        /** Everything up to a bound that was read just now. */
        public static Range whole(@Nullable List<String> bound) {
            return new Range(null, null, bound, 1, null);
        }
    }

    /**
     * A family's ranges, as they are stored.
     *
     * @param parts how many parts
     * @param keyCodec the key they are written in
     * @param bound the inclusive bound of the whole; null for an empty source
     * @param splits where the ranges meet, rising; fewer than parts - 1 where there were fewer keys
     * @param capturedAt when
     */
    public record Ranges(
            int parts, String keyCodec, @Nullable List<String> bound, List<List<String>> splits, Instant capturedAt) {

        /** The range of one part. A part for which there was no key is empty, with neither end: it must not begin anywhere. */
        public Range of(int index) {
            if (bound == null || index > splits.size()) {
                return new Range(parts, null, null, 0, capturedAt);
            }
            return new Range(
                    parts,
                    index == 0 ? null : splits.get(index - 1),
                    index == splits.size() ? bound : splits.get(index),
                    1.0 / (splits.size() + 1),
                    capturedAt);
        }
    }

    /** Takes the lock of a family name, whether or not there is a family of that name yet, until the transaction ends. */
    public void hold(Session session, String family) throws SQLException {
        lock(session, hold, family);
    }

    /** As {@link #hold}, but shares it with others that share it. */
    public void share(Session session, String family) throws SQLException {
        lock(session, share, family);
    }

    private void lock(Session session, Sql sql, String family) throws SQLException {
        try (PreparedStatement statement =
                sql.prepare(session.connection(), Params.of("name", schema + " " + family))) {
            statement.execute();
        }
    }

    /** The stored ranges; empty before the first start. */
    public Optional<Ranges> find(Session session, BackfillId family) throws SQLException {
        try (PreparedStatement statement = find.prepare(session.connection(), Params.of("family", family.value()));
                ResultSet row = statement.executeQuery()) {
            return row.next()
                    ? Optional.of(new Ranges(
                            row.getInt("parts"),
                            row.getString("key_codec"),
                            Values.texts(row, "bound"),
                            keys(row.getArray("splits")),
                            Objects.requireNonNull(Values.instant(row, "captured_at"))))
                    : Optional.empty();
        }
    }

    /** The stored ranges; captured now, in the session's transaction, if none are stored yet (SR-1). */
    public Ranges settle(Session session, BackfillDefinition<?> definition, Family.Part part, long table)
            throws SQLException {
        Optional<Ranges> stored = find(session, part.family());
        if (stored.isPresent()) {
            return stored.get();
        }
        KeySql key = new KeySql(definition.table(), definition.key());
        List<String> bound = new EndsSql(key).greatest(session);
        List<List<String>> splits =
                bound == null ? List.of() : new SplitsSql(key).splits(session, table, bound, part.parts());
        capture.update(
                session.connection(),
                Params.of("family", part.family().value())
                        .and("parts", part.parts())
                        .and("key_codec", definition.key().codec())
                        .and("bound", Values.array(bound))
                        .and("splits", splits.isEmpty() ? new String[0] : array(splits)));
        return find(session, part.family()).orElseThrow();
    }

    /** A part that was started under its ID as a definition of the whole source, if there is one. */
    public Optional<String> startedAlone(Session session, Family.Part part) throws SQLException {
        // And under the family's own ID, which a guard would then take for the family's.
        String[] ids = Stream.concat(
                        Stream.of(part.family().value()),
                        IntStream.range(0, part.parts())
                                .mapToObj(index ->
                                        Family.partId(part.family(), index).value()))
                .toArray(String[]::new);
        try (PreparedStatement statement = startedAlone.prepare(session.connection(), Params.of("ids", ids));
                ResultSet row = statement.executeQuery()) {
            return row.next() ? Optional.of(row.getString("id")) : Optional.empty();
        }
    }

    private static String[][] array(List<List<String>> keys) {
        return keys.stream().map(key -> key.toArray(new String[0])).toArray(String[][]::new);
    }

    private static List<List<String>> keys(Array array) throws SQLException {
        List<List<String>> keys = new ArrayList<>();
        if (array.getArray() instanceof String[][] rows) {
            Arrays.stream(rows).forEach(row -> keys.add(List.of(row)));
        }
        return keys;
    }
}
