package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillDefinition;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.ValidationReport;
import dev.backfill.operate.ValidationReport.Reason;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.preflight.SchemaCheck;
import dev.backfill.postgres.internal.row.Asked;
import dev.backfill.postgres.internal.row.LedgerSql.Stored;
import dev.backfill.postgres.internal.row.Registry;
import dev.backfill.postgres.internal.row.RowSql.Row;
import dev.backfill.postgres.internal.supervise.ValidationThreads;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;

/**
 * Explicit validation (EV): accepted in one transaction, run in a read-only one that needs and creates no claim, recorded in a third.
 * Thread-safe.
 */
public final class ValidationControls {

    private final ControlTransaction transaction;
    private final Registry registry;
    private final ValidationRun run;
    private final ValidationThreads threads;
    private final EngineOptions options;

    /** Over one engine's tables. */
    public ValidationControls(
            ControlTransaction transaction,
            Registry registry,
            ValidationRun run,
            ValidationThreads threads,
            EngineOptions options) {
        this.transaction = transaction;
        this.registry = registry;
        this.run = run;
        this.threads = threads;
        this.options = options;
    }

    ValidationReport validate(OperatorRequest request) throws SQLException {
        Asked asked = Asked.of(BackfillAction.VALIDATE, request);
        Optional<ValidationReport> answered = transaction.run(new Acceptance(asked));
        if (answered.isPresent()) {
            return answered.get();
        }
        BackfillDefinition<?> definition = registry.find(request.id().value()).orElseThrow();
        Duration patience = options.operatorTimeout().multipliedBy(3).dividedBy(4);
        ValidationThreads.Left left = threads.run(
                request.id(), () -> run.runAndRecord(asked, definition), options.validationTimeout(), patience);
        return transaction.inTransaction(session -> {
            if (!left.entered()) {
                // It was accepted, and there was no thread for it: nobody else will say what became of it.
                run.noResult(session, asked);
            }
            return report(session, asked, left.reason());
        });
    }

    private ValidationReport report(Session session, Asked asked, Reason open) throws SQLException {
        Stored stored = transaction.stored(session, asked).orElse(null);
        BackfillSnapshot now = transaction.snapshot(session, asked.id());
        return stored != null && stored.result() != null
                ? done(stored, now, false)
                : new ValidationReport.CurrentState(open, now);
    }

    private static ValidationReport done(Stored stored, BackfillSnapshot now, boolean replayed) {
        return AuditRecord.Outcome.SUCCESS.wireName().equals(stored.result())
                ? new ValidationReport.Success(now, replayed)
                : new ValidationReport.Failure(Objects.requireNonNull(stored.diagnostic()), now, replayed);
    }

    /** The answer that needs no run, or none: then the request is entered and the validation may begin. */
    private final class Acceptance implements Control<Optional<ValidationReport>> {

        private final Asked asked;

        Acceptance(Asked asked) {
            this.asked = asked;
        }

        @Override
        public Asked asked() {
            return asked;
        }

        @Override
        public boolean movesTheRow() {
            return false;
        }

        @Override
        public Optional<ValidationReport> replay(Session session, Row row, Stored earlier) throws SQLException {
            return Optional.of(done(earlier, transaction.snapshot(session, row.id()), true));
        }

        @Override
        public Decision<Optional<ValidationReport>> decide(Session session, Row row) throws SQLException {
            if (row.state() == BackfillState.PENDING) {
                return current(session, row, Reason.NOT_STARTED);
            }
            BackfillDefinition<?> definition = registry.find(row.id().value()).orElse(null);
            if (definition == null) {
                throw RefusedException.because(ConflictCode.UNKNOWN_HERE, row);
            }
            if (!SchemaCheck.of(session, definition).incompatible().isEmpty()) {
                return current(session, row, Reason.INCOMPATIBLE_SCHEMA);
            }
            return Decision.open(row, AuditRecord.Outcome.APPLIED, Optional.empty());
        }

        private Decision<Optional<ValidationReport>> current(Session session, Row row, Reason reason)
                throws SQLException {
            return Decision.open(
                    row,
                    AuditRecord.Outcome.CURRENT_STATE,
                    Optional.of(new ValidationReport.CurrentState(reason, transaction.snapshot(session, row.id()))));
        }

        @Override
        public Optional<ValidationReport> refused(ActionOutcome.Conflict conflict) {
            return Optional.of(new ValidationReport.Refused(conflict));
        }
    }
}
