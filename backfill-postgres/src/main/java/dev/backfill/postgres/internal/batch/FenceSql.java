package dev.backfill.postgres.internal.batch;

import dev.backfill.host.EngineOptions;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.batch.FenceShapes.Origin;
import dev.backfill.postgres.internal.batch.FenceShapes.Shape;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.ClaimSql;
import dev.backfill.postgres.internal.row.KeySql;
import dev.backfill.postgres.internal.row.Target;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;

/**
 * The fence: the last statement of a batch, which advances the checkpoint and proves that the batch may commit (CL-2, AT-1). The
 * plain form is fence, look at the count, COMMIT; the fused form sends all three in one flush, so that a frozen client can't hold
 * the row's lock between them. Immutable; compiled per key.
 */
public final class FenceSql {

    /** What the server answers when the fused fence misses: the division by the count of changed rows. */
    public static final String MISSED = "22012";

    private final FenceShapes shapes;
    private final Sql breach;
    private final long leaseMillis;
    private final long limitMillis;
    private final boolean fused;
    private final boolean unread;
    private final String table;

    /**
     * Compiles the fence for a key.
     *
     * @param barrier whether a batch has waited for the start barrier
     * @param unread whether rows are passed over unread
     */
    public FenceSql(Names names, KeySql key, EngineOptions options, boolean barrier, boolean unread) {
        table = key.table();
        shapes = new FenceShapes(names, key, Origin.CLIENT, barrier, unread);
        breach = names.sql(FenceShapes.fill(
                "/* backfill:breach */ SELECT coalesce({new} > {previous}, {new} > {low}, b.checkpoint IS NULL) AS forward,"
                        + " {new} <= {bound} AS within, " + Target.ELSEWHERE
                        + " AS elsewhere FROM {backfill} AS b WHERE b.id = :id",
                FenceShapes.keys(key, ":new::text[]")));
        leaseMillis = options.lease().toMillis();
        limitMillis = options.transactionTimeout().toMillis();
        fused = options.fusedCommit();
        this.unread = unread;
    }

    /**
     * What a batch did, as the fence counts it.
     *
     * @param checkpoint the greatest key of the window; null only for an empty source
     * @param scanned keys in the window
     * @param changed rows changed
     */
    public record Work(@Nullable List<String> checkpoint, long scanned, long changed) {}

    /** Whether rows are passed over unread, so that nobody knows how many will be scanned. */
    boolean unread() {
        return unread;
    }

    /** What every form of the fence is given. */
    Params params(Claim claim) {
        return ClaimSql.of(claim)
                .and("previous", Values.array(claim.checkpoint()))
                .and("low", Values.array(claim.rangeLow()))
                .and("lease_millis", leaseMillis)
                .and("limit_millis", limitMillis)
                .and("table", table);
    }

    /**
     * Fences and commits.
     *
     * @param xid the transaction ID read when the batch began
     * @return the state after it; empty when a guard refused and nothing can be committed
     * @throws SQLException whatever it says, the outcome is unknown until the row is asked (AT-3)
     */
    public Optional<BackfillState> commit(Session session, Claim claim, String xid, Work work) throws SQLException {
        Params params = params(claim)
                .and("new", Values.array(work.checkpoint()))
                .and("scanned", work.scanned())
                .and("changed", work.changed())
                .and("xid", xid);
        Shape shape = shapes.of(claim);
        return fused ? commitFused(session, shape, params) : commitPlainly(session, shape, params);
    }

    private static Optional<BackfillState> commitPlainly(Session session, Shape shape, Params params)
            throws SQLException {
        // Two statements: under one, the lease would be judged before the wait for the lock and not again.
        try (PreparedStatement statement = shape.lock().prepare(session.connection(), params)) {
            statement.execute();
        }
        String state;
        try (PreparedStatement statement = shape.fence().prepare(session.connection(), params);
                ResultSet row = statement.executeQuery()) {
            if (!row.next()) {
                return Optional.empty();
            }
            state = row.getString("state");
        }
        session.commit();
        return Optional.of(BackfillState.ofWireName(state));
    }

    private static Optional<BackfillState> commitFused(Session session, Shape shape, Params params)
            throws SQLException {
        try (PreparedStatement statement = shape.flush().prepare(session.connection(), params)) {
            statement.execute();
            statement.getMoreResults();
            String state;
            try (ResultSet row = statement.getResultSet()) {
                row.next();
                state = row.getString("state");
            }
            session.requireCommitted();
            return Optional.of(BackfillState.ofWireName(state));
        } catch (SQLException e) {
            if (isMiss(e)) {
                return Optional.empty();
            }
            throw e;
        }
    }

    /** A deferred trigger may divide by zero at COMMIT too, but PostgreSQL then says in which function. */
    private static boolean isMiss(SQLException e) {
        return MISSED.equals(e.getSQLState())
                && e instanceof PSQLException driver
                && driver.getServerErrorMessage() != null
                && driver.getServerErrorMessage().getWhere() == null;
    }

    /**
     * Which rule of the window a rejected batch broke, asked in a transaction of its own.
     *
     * @param forward whether the new checkpoint was after the old one
     * @param within whether it was at or below the bound
     * @param elsewhere which other table the name means now; null where it is the one that it was at start
     */
    public record WindowCheck(
            boolean forward, boolean within, @Nullable String elsewhere) {}

    /** Compares a rejected checkpoint with the row. */
    public WindowCheck check(Session session, Claim claim, List<String> checkpoint) throws SQLException {
        Params params = Params.of("id", claim.id().value())
                .and("new", Values.array(checkpoint))
                .and("table", table);
        try (PreparedStatement statement = breach.prepare(session.connection(), params);
                ResultSet row = statement.executeQuery()) {
            return row.next()
                    ? new WindowCheck(row.getBoolean("forward"), row.getBoolean("within"), row.getString("elsewhere"))
                    : new WindowCheck(true, true, null);
        }
    }
}
