package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillDefinition;
import dev.backfill.ValidationOutcome;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.ConflictCode;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.ValidationReport;
import dev.backfill.operate.ValidationReport.Reason;
import dev.backfill.postgres.internal.batch.ValidationRunner;
import dev.backfill.postgres.internal.batch.ValidationSql.Begun;
import dev.backfill.postgres.internal.control.LifecycleControls.RefusedException;
import dev.backfill.postgres.internal.jdbc.Redaction;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.preflight.SchemaCheck;
import dev.backfill.postgres.internal.row.ActionSql.Moved;
import dev.backfill.postgres.internal.row.LastValidationSql;
import dev.backfill.postgres.internal.row.LedgerSql.Stored;
import dev.backfill.postgres.internal.row.RowSql.Row;
import dev.backfill.postgres.internal.supervise.ValidationThreads;
import dev.backfill.spi.BackfillEvent;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Explicit validation (EV): accepted in one transaction, run in a read-only one that needs and creates no claim, recorded in a third.
 * Only from {@code validating} may it also complete, fenced by the generation that it judged. Thread-safe.
 */
public final class ValidationControls {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    private final PlaneContext plane;
    private final LifecycleControls controls;
    private final ValidationRunner runner;
    private final LastValidationSql last;
    private final ValidationThreads threads;

    ValidationControls(PlaneContext plane, LifecycleControls controls, ValidationThreads threads) {
        this.plane = plane;
        this.controls = controls;
        this.runner = new ValidationRunner(
                plane.engine().sessions(),
                plane.engine().names(),
                plane.engine().options());
        this.last = new LastValidationSql(plane.jooq());
        this.threads = threads;
    }

    ValidationReport validate(OperatorRequest request) throws SQLException {
        Optional<ValidationReport> answered;
        try {
            answered = plane.settled(session -> accept(session, request));
        } catch (RefusedException refused) {
            return refuse(request, refused);
        }
        if (answered.isPresent()) {
            return answered.get();
        }
        BackfillDefinition<?> definition =
                plane.local().registry().find(request.id().value()).orElseThrow();
        Duration patience =
                plane.engine().options().operatorTimeout().multipliedBy(3).dividedBy(4);
        ValidationThreads.Left left = threads.run(
                request.id(),
                () -> runAndRecord(request, definition),
                plane.engine().options().validationTimeout(),
                patience);
        return plane.engine().control().inTransaction(session -> {
            if (!left.entered()) {
                // It was accepted, and there was no thread for it: nobody else will say what became of it.
                noResult(
                        session,
                        request,
                        plane.rows().read(session, request.id()).orElseThrow(RefusedException::unknownId));
            }
            return report(session, request, left.reason());
        });
    }

    private void noResult(Session session, OperatorRequest request, Row row) throws SQLException {
        controls.audit(session, request, row.state(), row.state(), row.generation(), "current_state");
    }

    /** The answer that needs no run, or none: then the request is entered and the validation may begin. */
    private Optional<ValidationReport> accept(Session session, OperatorRequest request) throws SQLException {
        Optional<Stored> stored = plane.ledger().enter(session, request);
        Row row = plane.rows().read(session, request.id()).orElseThrow(RefusedException::unknownId);
        if (stored.isPresent() && !stored.get().sameRequest()) {
            throw new RefusedException(ConflictCode.REQUEST_ID_REUSED, row, List.of());
        }
        if (stored.isPresent() && stored.get().result() != null) {
            controls.audit(session, request, row.state(), row.state(), row.generation(), "replayed");
            return Optional.of(replayed(session, request, stored.get()));
        }
        PlaneContext.readable(row);
        if (row.state() == BackfillState.PENDING) {
            return Optional.of(current(session, request, row, Reason.NOT_STARTED));
        }
        BackfillDefinition<?> definition =
                plane.local().registry().find(request.id().value()).orElse(null);
        if (definition == null) {
            throw new RefusedException(ConflictCode.UNKNOWN_HERE, row, List.of());
        }
        if (!SchemaCheck.of(session, definition).incompatible().isEmpty()) {
            return Optional.of(current(session, request, row, Reason.INCOMPATIBLE_SCHEMA));
        }
        controls.audit(session, request, row.state(), row.state(), row.generation(), "applied");
        return Optional.empty();
    }

    private ValidationReport refuse(OperatorRequest request, RefusedException refused) throws SQLException {
        return plane.engine().control().inTransaction(session -> {
            controls.audit(session, request, refused.state, refused.state, refused.generation, refused.outcomeCode());
            return new ValidationReport.Refused(
                    refused.code == null
                            ? new ActionOutcome.UnknownId()
                            : new ActionOutcome.Conflict(
                                    refused.code, plane.snapshot(session, request.id()), List.of(), false));
        });
    }

    private ValidationReport current(Session session, OperatorRequest request, Row row, Reason reason)
            throws SQLException {
        noResult(session, request, row);
        return new ValidationReport.CurrentState(reason, plane.snapshot(session, request.id()));
    }

    /** Runs on a validation thread, whether or not anybody still waits; why there is no result, or null when there is one. */
    private @Nullable Reason runAndRecord(OperatorRequest request, BackfillDefinition<?> definition) {
        long started = System.nanoTime();
        ValidationRunner.Result result = runner.run(
                definition,
                () -> plane.engine().control().inTransaction(session -> {
                    last.begin(session, request);
                    return true;
                }));
        try {
            if (result instanceof ValidationRunner.Result.Ran ran) {
                boolean completed = plane.settled(session -> record(session, request, ran));
                Duration took = Duration.ofNanos(System.nanoTime() - started);
                publish(request, BackfillEvent.Kind.VALIDATED, ran.row().generation(), code(ran.outcome()), took);
                if (completed) {
                    publish(request, BackfillEvent.Kind.COMPLETED, ran.row().generation() + 1, null, null);
                }
                return null;
            }
            Reason reason = reason(result);
            log(request, result);
            plane.engine().control().inTransaction(session -> {
                Row row = plane.rows().read(session, request.id()).orElseThrow(RefusedException::unknownId);
                noResult(session, request, row);
                // Of a copy that found another one under way, nothing was noted, and the other's note is not its to
                // forget.
                if (!(result instanceof ValidationRunner.Result.Busy)) {
                    last.forget(session, request);
                }
                return true;
            });
            return reason;
        } catch (SQLException e) {
            return Reason.UNAVAILABLE;
        }
    }

    /** Of a completed backfill nothing else would ever say why. */
    private static void log(OperatorRequest request, ValidationRunner.Result result) {
        if (result instanceof ValidationRunner.Result.Failed failed) {
            LOG.atWarn()
                    .setCause(Redaction.of(failed.cause()))
                    .addKeyValue("backfill", request.id())
                    .addKeyValue("request_id", request.requestId())
                    .log("A validation that an operator asked for has no result");
        }
    }

    private void publish(
            OperatorRequest request,
            BackfillEvent.Kind kind,
            long generation,
            @Nullable String code,
            @Nullable Duration took) {
        plane.engine()
                .events()
                .publish(BackfillEvent.of(kind, request.id(), generation, code)
                        .took(took)
                        .by(request.authority().name())
                        .answering(request.requestId()));
    }

    private static Reason reason(ValidationRunner.Result result) {
        if (result instanceof ValidationRunner.Result.Busy) {
            return Reason.ALREADY_RUNNING;
        }
        if (result instanceof ValidationRunner.Result.BehindBarrier) {
            return Reason.START_BARRIER;
        }
        if (result instanceof ValidationRunner.Result.Unreadable) {
            return Reason.UNKNOWN_HERE;
        }
        SQLException sql = SqlFailure.in(((ValidationRunner.Result.Failed) result).cause());
        if (sql != null && SqlFailure.isTooSlow(sql)) {
            return Reason.TIMED_OUT;
        }
        return sql != null && SqlFailure.of(sql) == SqlFailure.SCHEMA ? Reason.INCOMPATIBLE_SCHEMA : Reason.UNAVAILABLE;
    }

    /** Records the outcome; whether it completed the row. */
    private boolean record(Session session, OperatorRequest request, ValidationRunner.Result.Ran ran)
            throws SQLException {
        // Ledger first, then row, then audit: the lock order of every control.
        plane.ledger().enter(session, request);
        Row row = plane.lock(session, request.id()).orElseThrow(RefusedException::unknownId);
        Optional<Stored> earlier = plane.ledger().find(session, request);
        if (earlier.isPresent() && earlier.get().result() != null) {
            // Another copy of this request was quicker, and its answer has been given: it stays the answer.
            controls.audit(session, request, row.state(), row.state(), row.generation(), "replayed");
            last.forget(session, request);
            return false;
        }
        Diagnostic diagnostic = diagnostic(ran.outcome());
        String result = code(ran.outcome());
        plane.ledger()
                .answer(
                        session,
                        request.requestId(),
                        result,
                        row.state(),
                        new Moved(row.state(), row.generation()),
                        diagnostic);
        last.end(session, request, result, diagnostic);
        controls.audit(session, request, row.state(), row.state(), row.generation(), result);
        return ran.outcome() instanceof ValidationOutcome.Holds && complete(session, request, ran.row());
    }

    /** Whether it completed the row. */
    private boolean complete(Session session, OperatorRequest request, Begun judged) throws SQLException {
        if (judged.state() != BackfillState.VALIDATING
                || !plane.engine()
                        .sql()
                        .outcomes()
                        .completeUnclaimed(session, request.id().value(), judged.generation())) {
            return false;
        }
        plane.engine()
                .sql()
                .audit()
                .write(
                        session,
                        new AuditRecord(
                                new Authority(Authority.Kind.ENGINE, null),
                                request.id(),
                                request.requestId(),
                                "complete",
                                BackfillState.VALIDATING,
                                BackfillState.COMPLETED,
                                judged.generation() + 1,
                                "applied",
                                null));
        return true;
    }

    private ValidationReport report(Session session, OperatorRequest request, Reason open) throws SQLException {
        Stored stored = plane.ledger().find(session, request).orElse(null);
        if (stored != null && stored.result() != null) {
            return done(session, request, stored, false);
        }
        return new ValidationReport.CurrentState(open, plane.snapshot(session, request.id()));
    }

    private ValidationReport replayed(Session session, OperatorRequest request, Stored stored) throws SQLException {
        return done(session, request, stored, true);
    }

    private ValidationReport done(Session session, OperatorRequest request, Stored stored, boolean replayed)
            throws SQLException {
        return "success".equals(stored.result())
                ? new ValidationReport.Success(plane.snapshot(session, request.id()), replayed)
                : new ValidationReport.Failure(
                        Objects.requireNonNull(stored.diagnostic()), plane.snapshot(session, request.id()), replayed);
    }

    private static String code(ValidationOutcome outcome) {
        return outcome instanceof ValidationOutcome.Holds ? "success" : "failure";
    }

    private static @Nullable Diagnostic diagnostic(ValidationOutcome outcome) {
        if (outcome instanceof ValidationOutcome.Rejected rejected) {
            return Diagnostic.of(DiagnosticCode.VALIDATION_REJECTED, rejected.note(), null);
        }
        return outcome instanceof ValidationOutcome.PrerequisiteUnmet unmet
                ? Diagnostic.of(DiagnosticCode.VALIDATION_PREREQUISITE, unmet.note(), null)
                : null;
    }
}
