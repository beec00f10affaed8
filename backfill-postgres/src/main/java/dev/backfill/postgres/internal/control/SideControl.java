package dev.backfill.postgres.internal.control;

import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.ConflictCode;
import dev.backfill.operate.ControlRequest;
import dev.backfill.operate.Diagnostic;
import dev.backfill.postgres.internal.control.LifecycleControls.RefusedException;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.row.ActionSql.Moved;
import dev.backfill.postgres.internal.row.LedgerSql;
import dev.backfill.postgres.internal.row.LedgerSql.Stored;
import dev.backfill.postgres.internal.row.RowSql.Row;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * One control beside the lifecycle: entered, audited and answered like any other (IK, AU-3), but the row is only read and never
 * locked, because nothing in it moves. Confined to one thread.
 *
 * @param plane what the handlers share
 * @param request what is asked
 * @param action its name in ledger and audit
 */
public record SideControl(PlaneContext plane, ControlRequest request, String action) {

    /** Work in the request's one transaction; the row is as it was when it began. */
    @FunctionalInterface
    interface Work<T> {
        T with(Session session, Row row, Optional<Stored> earlier) throws SQLException;
    }

    /** Carries it out. */
    <T> T carryOut(Work<T> work, Function<ActionOutcome, T> refusal) throws SQLException {
        try {
            return plane.settled(session -> {
                Optional<Stored> earlier = plane.ledger().enter(session, LedgerSql.Entry.of(request, action));
                Row row = plane.rows().read(session, request.id()).orElseThrow(RefusedException::unknownId);
                if (earlier.isPresent() && !earlier.get().sameRequest()) {
                    throw new RefusedException(ConflictCode.REQUEST_ID_REUSED, row, List.of());
                }
                return work.with(session, PlaneContext.readable(row), earlier);
            });
        } catch (RefusedException refused) {
            // What was entered is rolled back, so the same request may come again; that it was refused is recorded
            // apart.
            return refusal.apply(plane.engine().control().inTransaction(session -> {
                Row row = plane.rows().read(session, request.id()).orElse(null);
                audit(session, row, refused.outcomeCode());
                return refused.code == null
                        ? new ActionOutcome.UnknownId()
                        : new ActionOutcome.Conflict(
                                refused.code, plane.snapshot(session, request.id()), refused.findings, false);
            }));
        }
    }

    /** Stores the answer for good. */
    void answer(Session session, Row row, String result, @Nullable Diagnostic detail) throws SQLException {
        plane.ledger()
                .answer(
                        session,
                        request.requestId(),
                        result,
                        row.state(),
                        new Moved(row.state(), row.generation()),
                        detail);
    }

    /** Writes the audit record; both states are equal, because nothing moved. */
    void audit(Session session, @Nullable Row row, String outcome) throws SQLException {
        plane.engine()
                .sql()
                .audit()
                .write(
                        session,
                        new AuditRecord(
                                request.authority(),
                                request.id(),
                                request.requestId(),
                                action,
                                row == null ? null : row.state(),
                                row == null ? null : row.state(),
                                row == null ? null : row.generation(),
                                outcome,
                                request.note()));
    }
}
