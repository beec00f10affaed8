package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillId;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.UnknownBackfillException;
import dev.backfill.postgres.internal.control.Control.Decision;
import dev.backfill.postgres.internal.jdbc.Limits;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.jdbc.UnknownOutcomeException;
import dev.backfill.postgres.internal.row.Asked;
import dev.backfill.postgres.internal.row.AuditSql;
import dev.backfill.postgres.internal.row.LedgerSql;
import dev.backfill.postgres.internal.row.LedgerSql.Stored;
import dev.backfill.postgres.internal.row.Readability;
import dev.backfill.postgres.internal.row.RowSql;
import dev.backfill.postgres.internal.row.RowSql.Row;
import dev.backfill.postgres.internal.row.Transition;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The one transaction of every operator request: ledger, lock, decide, change, audit, answer, COMMIT; once more if the answer to its
 * COMMIT was lost (IK, AU-3). What is decided is decided under the row's lock. Thread-safe.
 */
public final class ControlTransaction {

    private final Transactions transactions;
    private final RowSql rows;
    private final LedgerSql ledger;
    private final AuditSql audit;
    private final Snapshots snapshots;
    private final Duration patience;

    /**
     * Over the library's tables.
     *
     * @param patience how long somebody waits for an answer
     */
    public ControlTransaction(
            Transactions transactions,
            RowSql rows,
            LedgerSql ledger,
            AuditSql audit,
            Snapshots snapshots,
            Duration patience) {
        this.transactions = transactions;
        this.rows = rows;
        this.ledger = ledger;
        this.audit = audit;
        this.snapshots = snapshots;
        this.patience = patience;
    }

    /**
     * Carries a request out, or answers it from the ledger.
     *
     * @throws UnknownBackfillException for an ID without a row; recorded
     */
    <T> T run(Control<T> control) throws SQLException {
        try {
            return settled(session -> carryOut(session, control));
        } catch (RefusedException refused) {
            return control.refused(refusal(control.asked(), refused, true));
        }
    }

    private <T> T carryOut(Session session, Control<T> control) throws SQLException {
        Asked asked = control.asked();
        Stored earlier = ledger.enter(session, asked).orElse(null);
        boolean locks = control.movesTheRow() && !isAnswered(earlier);
        Row row = locks ? lock(session, asked.id()) : read(session, asked.id());
        if (earlier != null && locks) {
            // The copy that came first may have answered while this one waited for the row.
            earlier = ledger.find(session, asked).orElse(null);
        }
        if (earlier != null && !control.repeats(earlier)) {
            throw RefusedException.because(ConflictCode.REQUEST_ID_REUSED, row);
        }
        if (earlier != null && isAnswered(earlier)) {
            audit(session, asked, row.state(), row.position(), AuditRecord.Outcome.REPLAYED);
            return control.replay(session, row, earlier);
        }
        refuseIfMovedOn(asked, readable(row));
        Decision<T> decided = control.decide(session, row);
        audit(session, asked, decided.prior(), decided.now(), decided.outcome());
        if (decided.result() != null) {
            ledger.answer(
                    session, asked.requestId(), decided.result(), decided.prior(), decided.now(), decided.diagnostic());
        }
        control.follow(session, decided.answer());
        return decided.answer();
    }

    private static boolean isAnswered(@Nullable Stored earlier) {
        return earlier != null && earlier.result() != null;
    }

    private static void refuseIfMovedOn(Asked asked, Row row) throws RefusedException {
        Long expected = asked.decidedOn();
        if (expected != null && expected != row.generation()) {
            throw RefusedException.because(ConflictCode.GENERATION_CONFLICT, row);
        }
    }

    /** The row, for those that may go on only if they can read it (ID-5). */
    static Row readable(Row row) throws RefusedException {
        if (!Readability.isKnown(row.contract())) {
            throw RefusedException.because(ConflictCode.UNKNOWN_HERE, row);
        }
        return row;
    }

    static UnknownBackfillException unknown(BackfillId id) {
        return new UnknownBackfillException("No backfill " + id + " is registered. Check the ID.");
    }

    /** Why it was refused. What was entered is rolled back, so the same request may come again; that it was refused is recorded apart. */
    ActionOutcome.Conflict refusal(Asked asked, RefusedException refused, boolean audited) throws SQLException {
        ConflictCode code = refused.code;
        Optional<ActionOutcome.Conflict> conflict = transactions.inTransaction(session -> {
            if (audited) {
                audit(session, asked, refused.state(), refused.at, refused.outcome());
            }
            return code == null
                    ? Optional.empty()
                    : Optional.of(
                            new ActionOutcome.Conflict(code, snapshot(session, asked.id()), refused.findings, false));
        });
        return conflict.orElseThrow(() -> unknown(asked.id()));
    }

    /**
     * Runs a transaction; once more, on another connection, if the answer to its COMMIT was lost: the ledger then says what became of
     * it, or it happens now (IK-2).
     *
     * @throws UnknownOutcomeException if that did not tell either
     */
    private <T> T settled(Transactions.Work<T> control) throws SQLException {
        long began = System.nanoTime();
        try {
            return transactions.inTransaction(control);
        } catch (UnknownOutcomeException e) {
            if (System.nanoTime() - began > patience.toNanos() / 4) {
                // What hung once may hang again, and somebody waits for an answer.
                throw e;
            }
            return again(control, e);
        }
    }

    private <T> T again(Transactions.Work<T> control, UnknownOutcomeException former) throws SQLException {
        try {
            return transactions.inTransaction(control);
        } catch (RefusedException e) {
            throw e;
        } catch (SQLException e) {
            // What kept this one from its answer says nothing about the former.
            throw former;
        }
    }

    /** Runs work that is no request: no ledger, and not repeated. */
    <T> T inTransaction(Transactions.Work<T> work) throws SQLException {
        return transactions.inTransaction(work);
    }

    /** What is stored of a request. */
    Optional<Stored> stored(Session session, Asked asked) throws SQLException {
        return ledger.find(session, asked);
    }

    /** The row without a lock; one that is not there is refused. */
    Row read(Session session, BackfillId id) throws SQLException {
        return find(session, id).orElseThrow(RefusedException::unknownId);
    }

    /** The row without a lock. */
    Optional<Row> find(Session session, BackfillId id) throws SQLException {
        return rows.read(session, id);
    }

    /**
     * The row, locked until the transaction ends; waits for it no longer than the limit for locks.
     *
     * <p>A {@code lock_timeout} alone would not hold that: it bounds each wait anew, and whoever is not the first in the queue waits
     * twice, for the place at its head and then for the owner of the row.
     */
    Row lock(Session session, BackfillId id) throws SQLException {
        Limits limits = transactions.limits();
        longestStatement(session, limits.lock());
        Optional<Row> row = rows.lock(session, id);
        longestStatement(session, limits.statement());
        return row.orElseThrow(RefusedException::unknownId);
    }

    private static void longestStatement(Session session, Duration longest) throws SQLException {
        try (Statement statement = session.connection().createStatement()) {
            statement.execute("/* backfill:settings */ SET LOCAL statement_timeout = " + longest.toMillis());
        }
    }

    /** Writes an audit record; if it can't be written, the transaction must not commit. */
    void audit(
            Session session,
            Asked asked,
            @Nullable BackfillState prior,
            @Nullable Transition now,
            AuditRecord.Outcome outcome)
            throws SQLException {
        audit.write(session, asked.audited(prior, now, outcome));
    }

    /** The row as operators see it, in the session's transaction. */
    BackfillSnapshot snapshot(Session session, BackfillId id) throws SQLException {
        return snapshots.one(session, id).orElseThrow(() -> new SQLException("the row of " + id + " is gone", "02000"));
    }
}
