package dev.backfill.postgres.internal.row;

import dev.backfill.BackfillId;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.migrate.Names;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Reads the one row for those that decide about it, with and without its lock. Immutable. */
public final class RowSql {

    private static final String READ = """
            SELECT id, no, contract, state, generation, claim_token,
              coalesce(claim_expires_at > pg_catalog.clock_timestamp() AND NOT {beyond}, false) AS unexpired, key_codec, bound, bound_empty,
              range_parts, range_low, checkpoint, failure_code
            FROM {backfill} WHERE id = :id""";

    private static final Map<String, String> BEYOND = Map.of("beyond", ClaimSql.BEYOND_ANY_LEASE);

    private final Sql read;
    private final Sql lock;

    /** Compiles the statements. */
    public RowSql(Names names) {
        read = names.sql("/* backfill:read */ " + READ, BEYOND);
        lock = names.sql("/* backfill:lock */ " + READ + " FOR NO KEY UPDATE", BEYOND);
    }

    /**
     * The row.
     *
     * @param id the ID
     * @param no its number
     * @param contract its format
     * @param state its state
     * @param generation its generation
     * @param token the claim's token, or null
     * @param unexpired whether a claim is held and valid
     * @param keyCodec its key codec
     * @param bound its bound
     * @param boundEmpty whether the source was empty
     * @param rangeParts how many parts its family has; null for a whole source
     * @param rangeLow the exclusive lower bound of its range, or null
     * @param checkpoint its checkpoint
     * @param failureCode the last failure's code
     */
    public record Row(
            BackfillId id,
            int no,
            int contract,
            BackfillState state,
            long generation,
            @Nullable UUID token,
            boolean unexpired,
            @Nullable String keyCodec,
            @Nullable List<String> bound,
            boolean boundEmpty,
            @Nullable Integer rangeParts,
            @Nullable List<String> rangeLow,
            @Nullable List<String> checkpoint,
            @Nullable String failureCode) {

        /** Where it stands. */
        public Transition position() {
            return new Transition(state, generation);
        }

        /** What decides whether this process can read it (ID-5). */
        public Readability.Facts facts() {
            return new Readability.Facts(contract, state != BackfillState.PENDING, keyCodec, rangeParts);
        }

        /** Whether no admitted work remains, so that validation is next. */
        public boolean isExhausted() {
            return boundEmpty || (bound != null && bound.equals(checkpoint));
        }
    }

    /** Reads it without a lock. */
    public Optional<Row> read(Session session, BackfillId id) throws SQLException {
        return one(session, read, id);
    }

    /** Reads it and keeps it locked until the transaction ends. */
    public Optional<Row> lock(Session session, BackfillId id) throws SQLException {
        return one(session, lock, id);
    }

    private static Optional<Row> one(Session session, Sql sql, BackfillId id) throws SQLException {
        try (PreparedStatement statement = sql.prepare(session.connection(), Params.of("id", id.value()));
                ResultSet row = statement.executeQuery()) {
            return row.next() ? Optional.of(row(row)) : Optional.empty();
        }
    }

    private static Row row(ResultSet row) throws SQLException {
        return new Row(
                BackfillId.of(row.getString("id")),
                row.getInt("no"),
                row.getInt("contract"),
                Values.state(row),
                row.getLong("generation"),
                row.getObject("claim_token", UUID.class),
                row.getBoolean("unexpired"),
                row.getString("key_codec"),
                Values.texts(row, "bound"),
                row.getBoolean("bound_empty"),
                Values.integer(row, "range_parts"),
                Values.texts(row, "range_low"),
                Values.texts(row, "checkpoint"),
                row.getString("failure_code"));
    }
}
