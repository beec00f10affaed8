package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
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
import dev.backfill.postgres.internal.supervise.Deadline;
import dev.backfill.postgres.internal.supervise.OverdueException;
import dev.backfill.postgres.internal.supervise.Slots;
import dev.backfill.postgres.internal.supervise.Slots.Slot;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Explicit validation (EV): accepted in one transaction, run in a read-only one that needs and creates no claim, recorded in a third.
 * Thread-safe.
 */
public final class ValidationControls {

    private static final Duration GRACE = Duration.ofMillis(500);

    private final ControlTransaction transaction;
    private final Registry registry;
    private final ValidationRun run;
    private final Slots slots;
    private final Duration patience;
    // Since when, for the oldest of each that is under way here.
    private final Map<BackfillId, Long> inside = new ConcurrentHashMap<>();

    /** Over one engine's tables. */
    public ValidationControls(
            ControlTransaction transaction,
            Registry registry,
            ValidationRun run,
            Slots slots,
            Duration operatorTimeout) {
        this.transaction = transaction;
        this.registry = registry;
        this.run = run;
        this.slots = slots;
        this.patience = operatorTimeout.multipliedBy(3).dividedBy(4);
    }

    ValidationReport validate(OperatorRequest request) throws SQLException {
        Asked asked = Asked.of(BackfillAction.VALIDATE, request);
        Optional<ValidationReport> answered = transaction.run(new Acceptance(asked));
        if (answered.isPresent()) {
            return answered.get();
        }
        long now = System.nanoTime();
        Long since = inside.putIfAbsent(asked.id(), now);
        // PostgreSQL has ended one that is older, whatever it does: another one would be lost in the same code.
        boolean overdue = since != null && now - since > run.timeout().toNanos();
        Optional<Slot> slot = overdue ? Optional.empty() : slots.enter(asked.id());
        if (slot.isPresent()) {
            Reason open = runIn(slot.get(), asked, now);
            return transaction.inTransaction(session -> report(session, asked, open));
        }
        inside.remove(asked.id(), now);
        return transaction.inTransaction(session -> {
            // It was accepted, and there was no thread for it: nobody else will say what became of it.
            run.noResult(session, asked);
            return report(session, asked, since == null ? Reason.UNAVAILABLE : Reason.ALREADY_RUNNING);
        });
    }

    /** Waits for as long as an operator does; the run itself goes on. Why there is no result, if there is none. */
    private Reason runIn(Slot slot, Asked asked, long began) throws SQLException {
        ValidationRun.Accepted accepted =
                run.accepted(asked, registry.find(asked.id().value()).orElseThrow());
        try (slot) {
            // PostgreSQL's own limit comes first.
            Deadline deadline = new Deadline(run.timeout().plus(GRACE), GRACE);
            return slot.begin(deadline, accepted, () -> {
                        try {
                            return accepted.call();
                        } finally {
                            inside.remove(asked.id(), began);
                        }
                    })
                    .get(patience.toNanos(), TimeUnit.NANOSECONDS)
                    .orElse(Reason.ALREADY_RUNNING);
        } catch (TimeoutException e) {
            return Reason.ALREADY_RUNNING;
        } catch (ExecutionException e) {
            return e.getCause() instanceof OverdueException ? Reason.TIMED_OUT : Reason.UNAVAILABLE;
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return Reason.ALREADY_RUNNING;
        }
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
