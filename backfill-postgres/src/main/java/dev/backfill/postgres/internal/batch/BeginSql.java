package dev.backfill.postgres.internal.batch;

import dev.backfill.Pacing;
import dev.backfill.host.EngineOptions;
import dev.backfill.postgres.internal.jdbc.Limits;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.ApplicationName;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.ClaimSql;
import dev.backfill.postgres.internal.row.HealthSql;
import dev.backfill.postgres.internal.row.PaceSql;
import dev.backfill.postgres.internal.row.Target;
import dev.backfill.postgres.internal.row.TotalsSql.Totals;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * How a batch begins: opens the transaction, bounds it, reads the row without a lock and learns the transaction's ID. A pause is
 * noticed here, before any work. It goes alone, or in one flush with the window's first statement, which then finds nothing to do
 * unless the row said that the batch may run. Immutable; compiled per definition.
 */
public final class BeginSql {

    private static final String MINE = "b.state = 'running' AND b.generation = :generation AND b.claim_token = :token"
            + " AND b.claim_expires_at > pg_catalog.clock_timestamp()";

    private static final String READ_ONLY = "(pg_catalog.current_setting('transaction_read_only') = 'on')";

    // One row even where the backfill has none: the limits and the gate must be set for what comes behind.
    private static final String BEGIN = "/* backfill:begin */ SET TRANSACTION ISOLATION LEVEL READ COMMITTED;"
            + "/* backfill:begin */ SELECT {limits}, pg_catalog.set_config('application_name', :application, true), {untold}, {counts}, "
            + PageSql.gate(MINE + " AND NOT " + READ_ONLY + " AND " + Target.PINNED + " AND (NOT :barrier OR {passed})")
            + " = 'open' AS open, "
            + Target.ELSEWHERE + " AS elsewhere, " + READ_ONLY + " AS read_only, "
            + MINE + " AND :barrier AND NOT {passed} AS waits," + """
             b.barrier_since < pg_catalog.clock_timestamp() - :barrier_millis * interval '1 millisecond' AS overdue,
              pg_catalog.pg_current_xact_id()::text AS xid, {wal} AS wal_position,
              p.id IS NOT NULL AS paced, p.pause_ratio, p.rows_per_second, p.wal_bytes_per_second, p.target_batch_millis,
              b.batches AS total_batches, b.rows_scanned AS total_scanned, b.rows_changed AS total_changed
            FROM (SELECT 1) AS one LEFT JOIN {backfill} AS b ON b.id = :id LEFT JOIN {pace} AS p ON p.id = b.id""";

    private final Sql alone;
    private final WindowRepair repair;
    private final Sql withWindow;
    private final Sql withLook;
    private final long barrierMillis;
    private final boolean barrier;
    private final String table;

    /**
     * Compiles the statements.
     *
     * @param barrier whether the start barrier is waited for (SR-6)
     * @param table the source table, quoted
     * @param repair knows the first statement of a window
     * @param tableOid the source, whose changed rows are counted
     */
    public BeginSql(
            Names names, EngineOptions options, boolean barrier, String table, WindowRepair repair, long tableOid) {
        this.table = table;
        this.barrier = barrier;
        this.repair = repair;
        barrierMillis = options.barrierTimeout().toMillis();
        alone = names.sql(
                BEGIN,
                Map.of(
                        "limits", Limits.ofBatch(options).asSelectItems(),
                        "untold", PageSql.UNTOLD,
                        "counts", CountSql.begins(tableOid),
                        "passed", BarrierSql.PASSED,
                        "wal", HealthSql.POSITION));
        withWindow = alone.then(repair.first().gated());
        withLook = repair.firstOfLook() == null
                ? withWindow
                : alone.then(repair.firstOfLook().gated());
    }

    /**
     * What the row said when the batch began.
     *
     * @param open whether the batch may run: the row is there, the claim is ours, its lease holds, and every transaction that wrote
     *     before the bound was captured has ended, where that is waited for (SR-6)
     * @param elsewhere which other table the name means now; null where it is the one that it was at start
     * @param readOnly whether the database, the role or the session is read-only (CF-10)
     * @param waits whether only those transactions are in the way
     * @param overdue whether they have been waited for too long
     * @param xid the transaction's ID, which the fence must see again
     * @param walPosition the server's position in the WAL, in bytes
     * @param pacing the operator's pacing; null for the definition's own
     * @param totals what the row had counted so far
     */
    public record Begun(
            boolean open,
            @Nullable String elsewhere,
            boolean readOnly,
            boolean waits,
            boolean overdue,
            String xid,
            long walPosition,
            @Nullable Pacing pacing,
            Totals totals) {}

    /** Begins, and sends nothing else. */
    public Begun alone(Session session, Claim claim) throws SQLException {
        try (PreparedStatement statement = alone.prepare(session.connection(), params(claim))) {
            statement.execute();
            return read(statement);
        }
    }

    /** Sends the window's first statement in a transaction that has begun; its results are the statement's next ones. */
    public PreparedStatement window(Session session, Claim claim, WindowSize size) throws SQLException {
        return executed(repair.first(size).of(claim).prepare(session.connection(), PageSql.params(claim, size)));
    }

    /** Begins with the window's first statement; what the row said is to be {@link #read} before that statement's results. */
    public PreparedStatement withWindow(Session session, Claim claim, WindowSize size) throws SQLException {
        Params params = params(claim).and(PageSql.params(claim, size));
        Sql sql = size.looksFurther() ? withLook : withWindow;
        return executed(sql.prepare(session.connection(), params));
    }

    private static PreparedStatement executed(PreparedStatement statement) throws SQLException {
        try {
            statement.execute();
            return statement;
        } catch (SQLException | RuntimeException e) {
            statement.close();
            throw e;
        }
    }

    /** Whether the start barrier is waited for. */
    boolean barrier() {
        return barrier;
    }

    /** The look, for a flush that begins with it. */
    Sql look() {
        return alone;
    }

    /** What the look is given. */
    Params params(Claim claim) {
        return ClaimSql.of(claim)
                .and("barrier", barrier)
                .and("table", table)
                .and("barrier_millis", barrierMillis)
                .and("application", ApplicationName.of(claim));
    }

    /** What the row said; leaves the statement at the result that comes next, if there is one. */
    public static Begun read(PreparedStatement statement) throws SQLException {
        statement.getMoreResults();
        Begun begun;
        try (ResultSet row = statement.getResultSet()) {
            row.next();
            begun = begun(row);
        }
        statement.getMoreResults();
        return begun;
    }

    private static Begun begun(ResultSet row) throws SQLException {
        return new Begun(
                row.getBoolean("open"),
                row.getString("elsewhere"),
                row.getBoolean("read_only"),
                row.getBoolean("waits"),
                row.getBoolean("overdue"),
                row.getString("xid"),
                row.getLong("wal_position"),
                row.getBoolean("paced") ? PaceSql.pacing(row) : null,
                new Totals(row.getLong("total_batches"), row.getLong("total_scanned"), row.getLong("total_changed")));
    }
}
