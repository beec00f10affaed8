package dev.backfill.postgres.internal.batch;

import dev.backfill.Pacing;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.batch.BeginSql.Begun;
import dev.backfill.postgres.internal.batch.FenceShapes.Origin;
import dev.backfill.postgres.internal.batch.FenceSql.Work;
import dev.backfill.postgres.internal.batch.WindowRepair.Window;
import dev.backfill.postgres.internal.batch.WriteBackSql.Write;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.KeySql;
import dev.backfill.postgres.internal.row.TotalsSql;
import dev.backfill.postgres.internal.row.TotalsSql.Totals;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The end of a batch, and for SQL over the window the whole of it, in one flush: what changes rows, the fence and COMMIT travel
 * together, and the fence learns from PostgreSQL how many rows were changed. Whatever the fence can't accept fails the flush without
 * saying why; then the transaction is rolled back, and the batch goes once more step by step, which can ask.
 *
 * <p>What it remembers only saves time. Confined to the worker that holds the claim.
 */
public final class OneFlush {

    private static final int MOST_MISSES_IN_A_ROW = 6;

    private final BeginSql begin;
    private final FenceSql fence;
    private final WindowRepair repair;
    private final FenceShapes told;
    private final FenceShapes counted;
    private final TotalsSql read;
    private int misses;
    private int batchesToRest;
    private @Nullable Totals totals;

    OneFlush(Names names, KeySql key, WindowRepair repair, BeginSql begin, FenceSql fence, long tableOid) {
        this.begin = begin;
        this.fence = fence;
        this.repair = repair;
        this.read = new TotalsSql(names);
        this.told = new FenceShapes(
                names, key, Origin.toldAndCounted(tableOid, key.table()), begin.barrier(), fence.unread());
        this.counted =
                new FenceShapes(names, key, Origin.counted(tableOid, key.table()), begin.barrier(), fence.unread());
    }

    /** Whether the next batch should be tried so; one that failed is not tried again at once, nor a second one for longer. */
    boolean isWorthATry() {
        if (batchesToRest == 0) {
            return true;
        }
        batchesToRest--;
        return false;
    }

    /** Whether a whole batch can be sent; not before one of this claim's has said where the row's counts stand. */
    boolean takesAll(WindowSize size) {
        return repair.inOneFlush(size) != null && totals != null;
    }

    /** A batch of this claim was committed in another way. */
    void counted(Totals before, Work work) {
        totals = new Totals(before.batches() + 1, before.scanned() + work.scanned(), before.changed() + work.changed());
    }

    /**
     * What the batch did whose answer was lost; null unless the row counts exactly one batch more than before it. A row that was set
     * back or forward by somebody else is so told from one that this batch moved. Changes nothing here: it may be asked again.
     */
    public @Nullable Work landed(Session session, Claim anew) throws SQLException {
        Totals before = totals;
        Totals now = read.read(session, anew.id());
        return before != null && now.batches() == before.batches() + 1
                ? new Work(anew.checkpoint(), now.scanned() - before.scanned(), now.changed() - before.changed())
                : null;
    }

    /** The row may count otherwise than was believed: the next batch goes step by step, and reads it. */
    public void recount() {
        totals = null;
    }

    /** A whole batch; null when it was rolled back, and should go step by step. */
    @Nullable
    BatchResult all(Session session, HeldClaim held, WindowSize size, long started) {
        Claim claim = held.claim();
        Sql sql = begin.look()
                .then(Objects.requireNonNull(repair.inOneFlush(size)).gated())
                .then(told.of(claim).flush());
        Params params = begin.params(claim).and(PageSql.params(claim, size));
        return send(session, new Batch(held, null, sql, params, size, started));
    }

    /** What is left of a batch after its rows were computed; null when it was rolled back, and should go step by step. */
    @Nullable
    BatchResult rest(Session session, HeldClaim held, Begun begun, Window computed, WindowSize size, long started) {
        Write write = Objects.requireNonNull(computed.unsent());
        totals = begun.totals();
        Sql sql = write.sql().then(counted.of(held.claim()).flush());
        Params params = write.params()
                .and("new", Values.array(computed.last()))
                .and("scanned", computed.scanned())
                .and("xid", begun.xid());
        return send(session, new Batch(held, begun, sql, params, size, started));
    }

    /** What is sent, and what is known of it; a batch that has not begun yet has no {@code begun}. */
    private record Batch(
            HeldClaim held, @Nullable Begun begun, Sql sql, Params params, WindowSize size, long started) {}

    private @Nullable BatchResult send(Session session, Batch batch) {
        Params params = batch.params()
                .and(fence.params(batch.held().claim()))
                .and("limit", batch.size().rows())
                .and("keys", batch.size().keys());
        try (PreparedStatement statement = batch.sql().prepare(session.connection(), params)) {
            statement.execute();
            Begun begun = batch.begun() == null ? BeginSql.read(statement) : batch.begun();
            BatchResult.Committed committed;
            try (ResultSet row = lastOf(statement)) {
                row.next();
                committed = committed(batch, begun, row);
            }
            session.requireCommitted();
            misses = 0;
            counted(begun.totals(), committed.work());
            return committed;
        } catch (SQLException e) {
            return failed(session, e);
        }
    }

    /** The fence's: COMMIT, which comes last, has none. */
    private static ResultSet lastOf(PreparedStatement statement) throws SQLException {
        ResultSet last = statement.getResultSet();
        while (statement.getMoreResults(Statement.KEEP_CURRENT_RESULT) || statement.getUpdateCount() != -1) {
            ResultSet next = statement.getResultSet();
            last = next == null ? last : next;
        }
        return Objects.requireNonNull(last);
    }

    private static BatchResult.Committed committed(Batch batch, Begun begun, ResultSet row) throws SQLException {
        Work work = new Work(Values.texts(row, "last"), row.getLong("scanned"), row.getLong("changed"));
        Pacing pacing =
                begun.pacing() == null ? batch.held().prepared().definition().pacing() : begun.pacing();
        long wal = pacing.walBytesPerSecond() == null ? 0 : row.getLong("wal") - begun.walPosition();
        Duration took = Duration.ofNanos(System.nanoTime() - batch.started());
        return new BatchResult.Committed(
                BackfillState.ofWireName(row.getString("state")),
                work,
                pacing,
                new Cost(took, work.scanned(), work.changed(), wal));
    }

    private @Nullable BatchResult failed(Session session, SQLException e) {
        if (!session.isFailed()) {
            // No answer, or one to COMMIT itself: only the row can say what happened.
            session.spoil();
            return new BatchResult.Unknown(e, null);
        }
        if (!FenceSql.MISSED.equals(e.getSQLState()) && !SqlFailure.isWriteInReadOnly(e)) {
            // The server refused a statement before COMMIT, and skipped everything behind it.
            session.failed(e);
            return new BatchResult.Failed(e);
        }
        misses = Math.min(misses + 1, MOST_MISSES_IN_A_ROW);
        batchesToRest = (1 << misses) - 1;
        try {
            session.rollback();
            return null;
        } catch (SQLException again) {
            session.spoil();
            return new BatchResult.Failed(again);
        }
    }
}
