package dev.backfill.postgres.internal.store;

import dev.backfill.BackfillState;
import dev.backfill.EngineOptions;
import dev.backfill.Pacing;
import dev.backfill.postgres.internal.jdbc.Limits;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.schema.Names;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The first round trip of a batch: opens the transaction, bounds it, reads the row without a lock and learns the transaction's ID.
 * A pause is noticed here, before any work. Immutable.
 */
public final class BeginSql {

    private final Sql begin;
    private final long barrierMillis;

    /** Compiles the statement. */
    public BeginSql(Names names, EngineOptions options) {
        barrierMillis = options.barrierTimeout().toMillis();
        begin = names.sql(
                "/* backfill:begin */ SET TRANSACTION ISOLATION LEVEL READ COMMITTED, READ WRITE; "
                        + "/* backfill:begin */ SELECT "
                        + Limits.ofBatch(options).asSelectItems()
                        + ", pg_catalog.set_config('application_name', :application, true), " + PageSql.UNTOLD + """
                , b.state,
                  b.generation = :generation AND b.claim_token = :token AS mine,
                  b.claim_expires_at > pg_catalog.clock_timestamp() AS unexpired,
                  pg_catalog.pg_current_xact_id()::text AS xid,
                  {passed} AS barrier_passed,
                  pg_catalog.clock_timestamp() - b.barrier_since > :barrier_millis * interval '1 millisecond' AS barrier_expired,
                  p.id IS NOT NULL AS paced, p.pause_ratio, p.rows_per_second, p.wal_bytes_per_second, p.target_batch_millis
                FROM {backfill} AS b LEFT JOIN {pace} AS p ON p.id = b.id WHERE b.id = :id""",
                Map.of("passed", BarrierSql.PASSED));
    }

    /**
     * What the row said when the batch began.
     *
     * @param state its state
     * @param mine whether generation and token are the presented ones
     * @param unexpired whether the lease still held
     * @param xid the transaction's ID, which the fence must see again
     * @param barrierPassed whether every transaction that wrote before the bound was captured has ended (SR-6)
     * @param barrierExpired whether the barrier has waited too long
     * @param pacing the operator's pacing; null for the definition's own
     */
    public record Begun(
            BackfillState state,
            boolean mine,
            boolean unexpired,
            String xid,
            boolean barrierPassed,
            boolean barrierExpired,
            @Nullable Pacing pacing) {}

    /** Begins; empty when the row is gone. */
    public Optional<Begun> begin(Session session, Claim claim) throws SQLException {
        Params params =
                ClaimSql.of(claim).and("barrier_millis", barrierMillis).and("application", ApplicationName.of(claim));
        try (PreparedStatement statement = begin.prepare(session.connection(), params)) {
            statement.execute();
            statement.getMoreResults();
            try (ResultSet row = statement.getResultSet()) {
                return row.next() ? Optional.of(begun(row)) : Optional.empty();
            }
        }
    }

    private static Begun begun(ResultSet row) throws SQLException {
        return new Begun(
                BackfillState.ofWireName(row.getString("state")),
                row.getBoolean("mine"),
                row.getBoolean("unexpired"),
                row.getString("xid"),
                row.getBoolean("barrier_passed"),
                row.getBoolean("barrier_expired"),
                row.getBoolean("paced") ? PaceSql.pacing(row) : null);
    }
}
