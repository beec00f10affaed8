package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillDefinition;
import dev.backfill.ValidationOutcome;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.AuditRecord.Outcome;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.operate.ValidationReport.Reason;
import dev.backfill.postgres.internal.batch.BreachException;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.Redaction;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.row.Asked;
import dev.backfill.postgres.internal.row.LastValidationSql;
import dev.backfill.postgres.internal.row.LedgerSql.Stored;
import dev.backfill.postgres.internal.row.OutcomeSql;
import dev.backfill.postgres.internal.row.RowSql.Row;
import dev.backfill.postgres.internal.row.Transition;
import dev.backfill.postgres.internal.supervise.LentSession;
import dev.backfill.postgres.internal.supervise.Overrun;
import dev.backfill.postgres.internal.validate.ValidationRunner;
import dev.backfill.postgres.internal.validate.ValidationSql.Begun;
import dev.backfill.spi.BackfillEvent;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs an accepted validation and records what it found. Only from {@code validating} may it also complete, fenced by the generation
 * that it judged (VA-3). Thread-safe.
 */
public final class ValidationRun {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    private final ControlTransaction transaction;
    private final ValidationRunner runner;
    private final LastValidationSql last;
    private final OutcomeSql outcomes;
    private final Events events;

    /** Over one engine's tables. */
    public ValidationRun(
            ControlTransaction transaction,
            ValidationRunner runner,
            LastValidationSql last,
            OutcomeSql outcomes,
            Events events) {
        this.transaction = transaction;
        this.runner = runner;
        this.last = last;
        this.outcomes = outcomes;
        this.events = events;
    }

    /** How long PostgreSQL lets it run. */
    Duration timeout() {
        return runner.timeout();
    }

    /** One that was accepted, to be run on a thread of its own, whether or not anybody still waits. */
    Accepted accepted(Asked asked, BackfillDefinition<?> definition) {
        return new Accepted(asked, definition);
    }

    /** Says why there is no result, or nothing when there is one. What is said of it is said once: by its thread, or by its overrun. */
    final class Accepted implements Callable<Optional<Reason>>, Overrun {

        private final Asked asked;
        private final BackfillDefinition<?> definition;
        private final LentSession lent = new LentSession();
        private final AtomicBoolean told = new AtomicBoolean();

        private Accepted(Asked asked, BackfillDefinition<?> definition) {
            this.asked = asked;
            this.definition = definition;
        }

        @Override
        public Optional<Reason> call() {
            long started = System.nanoTime();
            ValidationRunner.Result result = runner.run(
                    definition,
                    lent,
                    () -> transaction.inTransaction(session -> {
                        last.begin(session, asked);
                        return true;
                    }));
            return told.compareAndSet(false, true)
                    ? Optional.ofNullable(tell(asked, result, started))
                    : Optional.of(Reason.TIMED_OUT);
        }

        @Override
        public boolean abandon() {
            return lent.abort();
        }

        @Override
        public boolean record() {
            if (!told.compareAndSet(false, true)) {
                return true;
            }
            try {
                none(asked, Reason.TIMED_OUT, true);
                return true;
            } catch (SQLException e) {
                told.set(false);
                return false;
            }
        }
    }

    private @Nullable Reason tell(Asked asked, ValidationRunner.Result result, long started) {
        try {
            return result.<Recording>match(
                            ran -> () -> ran(asked, ran, started),
                            busy -> () -> none(asked, Reason.ALREADY_RUNNING, false),
                            barrier -> () -> none(asked, Reason.START_BARRIER, true),
                            unreadable -> () -> none(asked, Reason.UNKNOWN_HERE, true),
                            failed -> () -> failed(asked, failed.cause()))
                    .record();
        } catch (SQLException e) {
            return Reason.UNAVAILABLE;
        }
    }

    /** Records what became of a run. */
    private interface Recording {
        @Nullable
        Reason record() throws SQLException;
    }

    private @Nullable Reason ran(Asked asked, ValidationRunner.Result.Ran ran, long started) throws SQLException {
        boolean completed = transaction.run(new Verdict(asked, ran));
        Duration took = Duration.ofNanos(System.nanoTime() - started);
        long generation = ran.row().generation();
        publish(
                asked,
                BackfillEvent.Kind.VALIDATED,
                generation,
                outcome(ran.outcome()).wireName(),
                took);
        if (completed) {
            publish(asked, BackfillEvent.Kind.COMPLETED, generation + 1, null, null);
        }
        return null;
    }

    /** A copy that found another run under way noted nothing, and must leave the other's note alone. */
    private Reason none(Asked asked, Reason why, boolean noted) throws SQLException {
        return transaction.inTransaction(session -> {
            noResult(session, asked);
            if (noted) {
                last.forget(session, asked);
            }
            return why;
        });
    }

    /** Of a completed backfill nothing else would ever say why. */
    private Reason failed(Asked asked, Throwable cause) throws SQLException {
        LOG.atWarn()
                .setCause(Redaction.of(cause))
                .addKeyValue("backfill", asked.id())
                .addKeyValue("request_id", asked.requestId())
                .log("A validation that an operator asked for has no result");
        return none(asked, reason(cause), true);
    }

    /** Records that an accepted validation has no result. */
    void noResult(Session session, Asked asked) throws SQLException {
        Row row = transaction.read(session, asked.id());
        transaction.audit(session, asked, row.state(), row.position(), Outcome.CURRENT_STATE);
    }

    private void publish(
            Asked asked, BackfillEvent.Kind kind, long generation, @Nullable String code, @Nullable Duration took) {
        events.publish(BackfillEvent.of(kind, asked.id(), generation, code)
                .took(took)
                .by(asked.authority().name())
                .answering(asked.requestId()));
    }

    private static Reason reason(Throwable cause) {
        if (cause instanceof BreachException breach && breach.code() == DiagnosticCode.INCOMPATIBLE_SCHEMA) {
            return Reason.INCOMPATIBLE_SCHEMA;
        }
        SQLException sql = SqlFailure.in(cause);
        if (sql != null && SqlFailure.isTooSlow(sql)) {
            return Reason.TIMED_OUT;
        }
        return sql != null && SqlFailure.of(sql) == SqlFailure.SCHEMA ? Reason.INCOMPATIBLE_SCHEMA : Reason.UNAVAILABLE;
    }

    private static Outcome outcome(ValidationOutcome found) {
        return found.match(holds -> Outcome.SUCCESS, rejected -> Outcome.FAILURE, unmet -> Outcome.FAILURE);
    }

    private static @Nullable Diagnostic diagnostic(ValidationOutcome found) {
        return found.<@Nullable Diagnostic>match(
                holds -> null,
                rejected -> Diagnostic.of(DiagnosticCode.VALIDATION_REJECTED, rejected.note(), null),
                unmet -> Diagnostic.of(DiagnosticCode.VALIDATION_PREREQUISITE, unmet.note(), null));
    }

    /** Records an outcome; answers whether it completed the row. */
    private final class Verdict implements Control<Boolean> {

        private final Asked asked;
        private final Begun judged;
        private final ValidationOutcome outcome;

        Verdict(Asked asked, ValidationRunner.Result.Ran ran) {
            this.asked = asked.decided();
            this.judged = ran.row();
            this.outcome = ran.outcome();
        }

        @Override
        public Asked asked() {
            return asked;
        }

        @Override
        public boolean movesTheRow() {
            return true;
        }

        /** Another copy of this request was quicker, and its answer has been given: it stays the answer. */
        @Override
        public Boolean replay(Session session, Row row, Stored earlier) throws SQLException {
            last.forget(session, asked);
            return false;
        }

        /** What is recorded is the row that was evaluated, which may have moved on since. */
        @Override
        public Decision<Boolean> decide(Session session, Row row) throws SQLException {
            Diagnostic diagnostic = diagnostic(outcome);
            Outcome result = outcome(outcome);
            last.end(session, asked, result.wireName(), diagnostic);
            boolean completed = result == Outcome.SUCCESS && complete(session);
            Transition evaluated = new Transition(judged.state(), judged.generation());
            return new Decision<>(result, judged.state(), evaluated, result.wireName(), diagnostic, completed);
        }

        private boolean complete(Session session) throws SQLException {
            return judged.state() == BackfillState.VALIDATING
                    && outcomes.completeUnclaimed(session, asked.id().value(), judged.generation(), judged.history());
        }

        @Override
        public void follow(Session session, Boolean completed) throws SQLException {
            if (!completed) {
                return;
            }
            Asked ofTheEngine = new Asked(
                    asked.requestId(),
                    "complete",
                    asked.id(),
                    new Authority(Authority.Kind.ENGINE, null),
                    null,
                    null,
                    null);
            transaction.audit(
                    session,
                    ofTheEngine,
                    BackfillState.VALIDATING,
                    new Transition(BackfillState.COMPLETED, judged.generation() + 1),
                    Outcome.APPLIED);
        }

        @Override
        public Boolean refused(ActionOutcome.Conflict conflict) {
            return false;
        }
    }
}
