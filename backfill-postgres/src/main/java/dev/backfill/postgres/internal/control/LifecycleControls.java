package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillDefinition;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.ConflictCode;
import dev.backfill.operate.Finding;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.postgres.internal.batch.TableFacts;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.preflight.FamilyRanges;
import dev.backfill.postgres.internal.preflight.PreflightCheck;
import dev.backfill.postgres.internal.preflight.SchemaCheck;
import dev.backfill.postgres.internal.row.ActionSql.Moved;
import dev.backfill.postgres.internal.row.LedgerSql.Stored;
import dev.backfill.postgres.internal.row.RowSql.Row;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Start, pause, resume and retry: one transaction each, with its request and its audit record (IK, AU-3). The lock order is request,
 * row, audit; what is decided is decided under the row's lock. Thread-safe.
 *
 * @param plane what the handlers share
 */
public record LifecycleControls(PlaneContext plane) {

    /** Carries a request out, or answers it from the ledger. */
    ActionOutcome perform(OperatorRequest request) throws SQLException {
        try {
            return plane.settled(session -> decide(session, request));
        } catch (RefusedException refused) {
            // What was entered is rolled back, so the same request may come again; that it was refused is recorded
            // apart.
            return plane.engine().control().inTransaction(session -> {
                audit(session, request, refused.state, refused.state, refused.generation, refused.outcomeCode());
                return refusal(session, request, refused);
            });
        }
    }

    private ActionOutcome refusal(Session session, OperatorRequest request, RefusedException refused)
            throws SQLException {
        return refused.code == null
                ? new ActionOutcome.UnknownId()
                : new ActionOutcome.Conflict(
                        refused.code, plane.snapshot(session, request.id()), refused.findings, false);
    }

    private ActionOutcome decide(Session session, OperatorRequest request) throws SQLException, RefusedException {
        Optional<Stored> stored = plane.ledger().enter(session, request);
        if (stored.isPresent()) {
            return replay(session, request, stored.get());
        }
        Row row = PlaneContext.readable(plane.lock(session, request.id()).orElseThrow(RefusedException::unknownId));
        BackfillAction action = request.action();
        if (action.convergedOn().contains(row.state())) {
            Moved same = new Moved(row.state(), row.generation());
            return answered(session, request, row, same, "converged");
        }
        if (!action.appliesFrom().contains(row.state())) {
            Moved same = new Moved(row.state(), row.generation());
            return answered(session, request, row, same, ConflictCode.ILLEGAL_TRANSITION.wireName());
        }
        Optional<Moved> moved = action == BackfillAction.START
                ? start(session, request, row)
                : plane.actions().move(session, action, request.id());
        // The row is locked and its state was legal: anything but one changed row means that the key is gone.
        Moved now = moved.orElseThrow(() -> new SQLException("the row of " + request.id() + " did not move", "XX000"));
        return answered(session, request, row, now, "applied");
    }

    private Optional<Moved> start(Session session, OperatorRequest request, Row row)
            throws SQLException, RefusedException {
        BackfillDefinition<?> definition =
                plane.local().registry().find(request.id().value()).orElse(null);
        if (definition == null) {
            throw new RefusedException(ConflictCode.UNKNOWN_HERE, row, List.of());
        }
        SchemaCheck check = SchemaCheck.of(session, definition);
        TableFacts facts = check.facts();
        if (facts == null || !check.incompatible().isEmpty()) {
            throw new RefusedException(ConflictCode.INCOMPATIBLE_SCHEMA, row, check.incompatible());
        }
        if (!check.unwalkable().isEmpty()) {
            throw new RefusedException(ConflictCode.PREFLIGHT_FAILED, row, check.unwalkable());
        }
        List<Finding> refused = new PreflightCheck(
                        plane.engine().names(), plane.engine().options())
                .statements(session, definition, check);
        if (!refused.isEmpty()) {
            throw new RefusedException(ConflictCode.PREFLIGHT_FAILED, row, refused);
        }
        FamilyRanges.Taken taken = new FamilyRanges(plane.engine().names()).take(session, definition, facts);
        if (!taken.findings().isEmpty()) {
            throw new RefusedException(ConflictCode.PREFLIGHT_FAILED, row, taken.findings());
        }
        return plane.actions().start(session, definition, taken.range(), facts.estimatedRows());
    }

    private ActionOutcome replay(Session session, OperatorRequest request, Stored stored)
            throws SQLException, RefusedException {
        Row row = plane.rows().read(session, request.id()).orElseThrow(RefusedException::unknownId);
        if (!stored.sameRequest()) {
            throw new RefusedException(ConflictCode.REQUEST_ID_REUSED, row, List.of());
        }
        audit(session, request, row.state(), row.state(), row.generation(), "replayed");
        return outcome(String.valueOf(stored.result()), plane.snapshot(session, request.id()), true);
    }

    private ActionOutcome answered(Session session, OperatorRequest request, Row prior, Moved now, String result)
            throws SQLException {
        audit(session, request, prior.state(), now.state(), now.generation(), result);
        plane.ledger().answer(session, request.requestId(), result, prior.state(), now, null);
        return outcome(result, plane.snapshot(session, request.id()), false);
    }

    private static ActionOutcome outcome(String result, BackfillSnapshot now, boolean replayed) {
        return switch (result) {
            case "applied" -> new ActionOutcome.Applied(now, replayed);
            case "converged" -> new ActionOutcome.Converged(now, replayed);
            default -> new ActionOutcome.Conflict(ConflictCode.ILLEGAL_TRANSITION, now, List.of(), replayed);
        };
    }

    /**
     * The start of automatic mode: a pending row is started, with an audit record; any other is left without a word, so that a
     * restart leaves no trace (CF).
     *
     * @param auditRefusal whether a refusal is worth a record; one that is repeated is not
     * @return what became of it; empty when there was nothing to start
     */
    Optional<ActionOutcome> startQuietly(OperatorRequest request, boolean auditRefusal) throws SQLException {
        try {
            return plane.engine().control().inTransaction(session -> {
                Row row = plane.lock(session, request.id()).orElseThrow(RefusedException::unknownId);
                if (row.state() != BackfillState.PENDING) {
                    return Optional.empty();
                }
                // One that can't be read is left alone, and nothing else is held up by it (ID-5).
                Moved now = start(session, request, PlaneContext.readable(row)).orElseThrow();
                audit(session, request, row.state(), now.state(), now.generation(), "applied");
                return Optional.of(new ActionOutcome.Applied(plane.snapshot(session, request.id()), false));
            });
        } catch (RefusedException refused) {
            return plane.engine().control().inTransaction(session -> {
                if (auditRefusal) {
                    audit(session, request, refused.state, refused.state, refused.generation, refused.outcomeCode());
                }
                return Optional.of(refusal(session, request, refused));
            });
        }
    }

    void audit(
            Session session,
            OperatorRequest request,
            @Nullable BackfillState prior,
            @Nullable BackfillState resulting,
            @Nullable Long generation,
            String outcome)
            throws SQLException {
        plane.engine()
                .sql()
                .audit()
                .write(
                        session,
                        new AuditRecord(
                                request.authority(),
                                request.id(),
                                request.requestId(),
                                request.action().wireName(),
                                prior,
                                resulting,
                                generation,
                                outcome,
                                request.note()));
    }

    /** Refused for a reason that may pass, so the request is not stored; rolls the transaction back. */
    static final class RefusedException extends SQLException {

        private static final long serialVersionUID = 1L;

        final @Nullable ConflictCode code;
        final @Nullable BackfillState state;
        final @Nullable Long generation;
        final transient List<Finding> findings;

        RefusedException(@Nullable ConflictCode code, @Nullable Row row, List<Finding> findings) {
            // A state of its own, so that the connection is not taken for a broken one.
            super("refused", "02000");
            this.code = code;
            this.state = row == null ? null : row.state();
            this.generation = row == null ? null : row.generation();
            this.findings = findings;
        }

        static RefusedException unknownId() {
            return new RefusedException(null, null, List.of());
        }

        String outcomeCode() {
            return code == null ? "unknown_id" : code.wireName();
        }
    }
}
