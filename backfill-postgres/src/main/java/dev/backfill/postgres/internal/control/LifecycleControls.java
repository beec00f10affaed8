package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillDefinition;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.postgres.internal.batch.TableFacts;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.preflight.FamilyRanges;
import dev.backfill.postgres.internal.preflight.PreflightCheck;
import dev.backfill.postgres.internal.preflight.SchemaCheck;
import dev.backfill.postgres.internal.row.ActionSql;
import dev.backfill.postgres.internal.row.Asked;
import dev.backfill.postgres.internal.row.LedgerSql.Stored;
import dev.backfill.postgres.internal.row.Registry;
import dev.backfill.postgres.internal.row.RowSql.Row;
import dev.backfill.postgres.internal.row.Target;
import dev.backfill.postgres.internal.row.Transition;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/** Start, pause, resume and retry. Thread-safe. */
public final class LifecycleControls {

    private final ControlTransaction transaction;
    private final ActionSql actions;
    private final Registry registry;
    private final PreflightCheck preflight;
    private final FamilyRanges ranges;

    /** Over one engine's tables. */
    public LifecycleControls(
            ControlTransaction transaction,
            ActionSql actions,
            Registry registry,
            PreflightCheck preflight,
            FamilyRanges ranges) {
        this.transaction = transaction;
        this.actions = actions;
        this.registry = registry;
        this.preflight = preflight;
        this.ranges = ranges;
    }

    /** Carries a request out, or answers it from the ledger. */
    ActionOutcome perform(BackfillAction action, OperatorRequest request) throws SQLException {
        return transaction.run(new Action(action, Asked.of(action, request)));
    }

    /**
     * The start of automatic mode: a pending row is started, with an audit record; any other is left without a word, so that a
     * restart leaves no trace (CF).
     *
     * @param auditRefusal whether a refusal is worth a record; one that is repeated is not
     * @return what became of it; empty when there was nothing to start
     */
    Optional<ActionOutcome> startQuietly(OperatorRequest request, boolean auditRefusal) throws SQLException {
        Asked asked = Asked.of(BackfillAction.START, request);
        try {
            return transaction.inTransaction(session -> {
                Row row = transaction.lock(session, request.id());
                if (row.state() != BackfillState.PENDING) {
                    return Optional.empty();
                }
                // One that can't be read is left alone, and nothing else is held up by it (ID-5).
                Transition now =
                        start(session, ControlTransaction.readable(row)).orElseThrow();
                transaction.audit(session, asked, row.state(), now, AuditRecord.Outcome.APPLIED);
                return Optional.of(new ActionOutcome.Applied(transaction.snapshot(session, request.id()), false));
            });
        } catch (RefusedException refused) {
            return Optional.of(transaction.refusal(asked, refused, auditRefusal));
        }
    }

    private Optional<Transition> start(Session session, Row row) throws SQLException {
        BackfillDefinition<?> definition = registry.find(row.id().value()).orElse(null);
        if (definition == null) {
            throw RefusedException.because(ConflictCode.UNKNOWN_HERE, row);
        }
        ranges.hold(session, definition);
        SchemaCheck check = SchemaCheck.of(session, definition);
        TableFacts facts = walkable(row, check);
        List<Finding> refused = preflight.statements(session, definition, check);
        if (!refused.isEmpty()) {
            throw new RefusedException(ConflictCode.PREFLIGHT_FAILED, row, refused);
        }
        FamilyRanges.Taken taken = ranges.take(session, definition, facts);
        if (!taken.findings().isEmpty()) {
            throw new RefusedException(ConflictCode.PREFLIGHT_FAILED, row, taken.findings());
        }
        Target target = Target.resolve(session, definition.table())
                .filter(found -> found.oid() == facts.oid())
                .orElseThrow(() -> new SQLException("the table was replaced meanwhile", "40001"));
        return actions.start(session, definition, target, taken.range(), facts.estimatedRows());
    }

    /** The facts of a source that can be walked; what can't be started can't be rehearsed either. */
    static TableFacts walkable(Row row, SchemaCheck check) throws RefusedException {
        TableFacts facts = check.facts();
        if (facts == null || !check.incompatible().isEmpty()) {
            throw new RefusedException(ConflictCode.INCOMPATIBLE_SCHEMA, row, check.incompatible());
        }
        if (!check.unwalkable().isEmpty()) {
            throw new RefusedException(ConflictCode.PREFLIGHT_FAILED, row, check.unwalkable());
        }
        return facts;
    }

    private static ActionOutcome outcome(AuditRecord.Outcome result, BackfillSnapshot now, boolean replayed) {
        return switch (result) {
            case APPLIED -> new ActionOutcome.Applied(now, replayed);
            case CONVERGED -> new ActionOutcome.Converged(now, replayed);
            default -> new ActionOutcome.Conflict(ConflictCode.ILLEGAL_TRANSITION, now, List.of(), replayed);
        };
    }

    /** One action on one row. */
    private final class Action implements Control<ActionOutcome> {

        private final BackfillAction action;
        private final Asked asked;

        Action(BackfillAction action, Asked asked) {
            this.action = action;
            this.asked = asked;
        }

        @Override
        public Asked asked() {
            return asked;
        }

        @Override
        public boolean movesTheRow() {
            return true;
        }

        @Override
        public ActionOutcome replay(Session session, Row row, Stored earlier) throws SQLException {
            return outcome(
                    AuditRecord.Outcome.ofWireName(String.valueOf(earlier.result())),
                    transaction.snapshot(session, row.id()),
                    true);
        }

        @Override
        public Decision<ActionOutcome> decide(Session session, Row row) throws SQLException {
            if (action.convergedOn().contains(row.state())) {
                return decided(session, row, row.position(), AuditRecord.Outcome.CONVERGED);
            }
            if (!action.appliesFrom().contains(row.state())) {
                return decided(session, row, row.position(), AuditRecord.Outcome.ILLEGAL_TRANSITION);
            }
            Optional<Transition> moved =
                    action == BackfillAction.START ? start(session, row) : actions.move(session, action, row.id());
            // The row is locked and its state was legal: anything but one changed row means that the key is gone.
            Transition now =
                    moved.orElseThrow(() -> new SQLException("the row of " + row.id() + " did not move", "XX000"));
            return decided(session, row, now, AuditRecord.Outcome.APPLIED);
        }

        private Decision<ActionOutcome> decided(Session session, Row row, Transition now, AuditRecord.Outcome result)
                throws SQLException {
            ActionOutcome answer = outcome(result, transaction.snapshot(session, row.id()), false);
            return new Decision<>(result, row.state(), now, result.wireName(), null, answer);
        }

        @Override
        public ActionOutcome refused(ActionOutcome.Conflict conflict) {
            return conflict;
        }
    }
}
