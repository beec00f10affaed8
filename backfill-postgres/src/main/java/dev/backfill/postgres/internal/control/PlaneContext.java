package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillId;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.ConflictCode;
import dev.backfill.postgres.internal.control.LifecycleControls.RefusedException;
import dev.backfill.postgres.internal.jdbc.Limits;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.jdbc.UnknownOutcomeException;
import dev.backfill.postgres.internal.row.ActionSql;
import dev.backfill.postgres.internal.row.Jooq;
import dev.backfill.postgres.internal.row.LedgerSql;
import dev.backfill.postgres.internal.row.RowSql;
import dev.backfill.postgres.internal.row.RowSql.Row;
import dev.backfill.postgres.internal.row.SnapshotSql;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;

/**
 * What the handlers of the operator plane share: made once when the engine knows its tables. Immutable, thread-safe.
 *
 * @param engine the engine's parts
 * @param local what this process adds to reads
 * @param rows the one row
 * @param ledger requests
 * @param actions transitions
 * @param snapshots the read model
 * @param jooq composed statements
 */
public record PlaneContext(
        EngineContext engine,
        LocalView local,
        RowSql rows,
        LedgerSql ledger,
        ActionSql actions,
        SnapshotSql snapshots,
        Jooq jooq) {

    /** For one engine. */
    public static PlaneContext of(EngineContext engine, LocalView local) {
        Jooq jooq = new Jooq(engine.names());
        return new PlaneContext(
                engine,
                local,
                new RowSql(engine.names()),
                new LedgerSql(jooq),
                new ActionSql(engine.names()),
                new SnapshotSql(engine.names()),
                jooq);
    }

    /**
     * Runs the transaction of a control; once more, on another connection, if the answer to its COMMIT was lost: the ledger then says
     * what became of it, or it happens now (IK-2).
     *
     * @throws UnknownOutcomeException if that did not tell either
     */
    <T> T settled(Transactions.Work<T> control) throws SQLException {
        long began = System.nanoTime();
        try {
            return engine.control().inTransaction(control);
        } catch (UnknownOutcomeException e) {
            if (System.nanoTime() - began > engine.options().operatorTimeout().toNanos() / 4) {
                // What hung once may hang again, and somebody waits for an answer.
                throw e;
            }
            return again(control, e);
        }
    }

    private <T> T again(Transactions.Work<T> control, UnknownOutcomeException former) throws SQLException {
        try {
            return engine.control().inTransaction(control);
        } catch (RefusedException e) {
            throw e;
        } catch (SQLException e) {
            // What kept this one from its answer says nothing about the former.
            throw former;
        }
    }

    /**
     * The row, for those that may go on only if they can read it (ID-5).
     *
     * @throws RefusedException if a newer library wrote it in a format that this one does not know
     */
    static Row readable(Row row) throws RefusedException {
        if (!row.isReadable()) {
            throw new RefusedException(ConflictCode.UNKNOWN_HERE, row, List.of());
        }
        return row;
    }

    /**
     * The row, locked until the transaction ends; waits for it no longer than the limit for locks.
     *
     * <p>A {@code lock_timeout} alone would not hold that: it bounds each wait anew, and whoever is not the first in the queue waits
     * twice, for the place at its head and then for the owner of the row.
     */
    Optional<Row> lock(Session session, BackfillId id) throws SQLException {
        Limits limits = engine.control().limits();
        longestStatement(session, limits.lock());
        Optional<Row> row = rows.lock(session, id);
        longestStatement(session, limits.statement());
        return row;
    }

    private static void longestStatement(Session session, Duration longest) throws SQLException {
        try (Statement statement = session.connection().createStatement()) {
            statement.execute("/* backfill:settings */ SET LOCAL statement_timeout = " + longest.toMillis());
        }
    }

    /** The row as operators see it, in the session's transaction. */
    BackfillSnapshot snapshot(Session session, BackfillId id) throws SQLException {
        SnapshotMapper mapper = new SnapshotMapper(local);
        return snapshots
                .detail(session, id, mapper::map)
                .orElseThrow(() -> new SQLException("the row of " + id + " is gone", "02000"));
    }
}
