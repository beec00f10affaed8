package dev.backfill.postgres.internal.row;

import dev.backfill.BackfillId;
import dev.backfill.Pacing;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.migrate.Names;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** An operator's pacing, beside the row and not in it, so that a change waits for no batch. Immutable. */
public final class PaceSql {

    private final Sql read;
    private final Sql write;
    private final Sql clear;
    private final Sql wake;

    /** Compiles the statements. */
    public PaceSql(Names names) {
        read = names.sql("""
                /* backfill:pace */ SELECT pause_ratio, rows_per_second, wal_bytes_per_second, target_batch_millis, updated_by,
                  updated_at FROM {pace} WHERE id = :id""");
        write = names.sql("""
                /* backfill:pace */ INSERT INTO {pace} AS p (id, pause_ratio, rows_per_second, wal_bytes_per_second,
                  target_batch_millis, updated_by, updated_at)
                VALUES (:id, :pause_ratio::double precision, :rows_per_second::bigint, :wal_bytes_per_second::bigint,
                  :target_batch_millis::bigint, :updated_by::text, pg_catalog.clock_timestamp())
                ON CONFLICT (id) DO UPDATE SET pause_ratio = excluded.pause_ratio, rows_per_second = excluded.rows_per_second,
                  wal_bytes_per_second = excluded.wal_bytes_per_second, target_batch_millis = excluded.target_batch_millis,
                  updated_by = excluded.updated_by, updated_at = excluded.updated_at""");
        wake = names.sql("/* backfill:pace */ UPDATE {backfill} SET next_attempt_at = NULL"
                + " WHERE id = :id AND claim_token IS NULL AND wait_reason = 'throttled'");
        clear = names.sql("/* backfill:pace */ DELETE FROM {pace} WHERE id = :id");
    }

    /**
     * A stored pacing.
     *
     * @param pacing the limits
     * @param by who set it; null where nobody is named
     * @param at when
     */
    public record Stored(
            Pacing pacing, @Nullable String by, @Nullable Instant at) {}

    /** The operator's pacing; empty when the definition's own is in force. */
    public Optional<Stored> read(Session session, BackfillId id) throws SQLException {
        try (PreparedStatement statement = read.prepare(session.connection(), Params.of("id", id.value()));
                ResultSet row = statement.executeQuery()) {
            return row.next()
                    ? Optional.of(
                            new Stored(pacing(row), row.getString("updated_by"), Values.instant(row, "updated_at")))
                    : Optional.empty();
        }
    }

    /** Stores a pacing, or removes it, in the session's transaction; a rest under the former one is over. */
    public void write(Session session, BackfillId id, @Nullable Pacing pacing, @Nullable String by)
            throws SQLException {
        Params params = Params.of("id", id.value());
        wake.update(session.connection(), params);
        if (pacing == null) {
            clear.update(session.connection(), params);
            return;
        }
        Duration target = pacing.targetBatchTime();
        write.update(
                session.connection(),
                params.and("pause_ratio", pacing.pauseRatio())
                        .and("rows_per_second", pacing.rowsPerSecond())
                        .and("wal_bytes_per_second", pacing.walBytesPerSecond())
                        .and("target_batch_millis", target == null ? null : target.toMillis())
                        .and("updated_by", by));
    }

    /** The limits in a row of the table. */
    public static Pacing pacing(ResultSet row) throws SQLException {
        Pacing pacing = Pacing.unlimited();
        double ratio = row.getDouble("pause_ratio");
        pacing = row.wasNull() ? pacing : pacing.pauseRatio(ratio);
        Long rows = Values.bigint(row, "rows_per_second");
        pacing = rows == null ? pacing : pacing.rowsPerSecond(rows);
        Long wal = Values.bigint(row, "wal_bytes_per_second");
        pacing = wal == null ? pacing : pacing.walBytesPerSecond(wal);
        Long target = Values.bigint(row, "target_batch_millis");
        return target == null ? pacing : pacing.targetBatchTime(Duration.ofMillis(target));
    }
}
