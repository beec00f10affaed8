package dev.backfill.postgres.internal.validate;

import dev.backfill.BackfillDefinition;
import dev.backfill.Validation;
import dev.backfill.Validation.NoRowMatches;
import dev.backfill.ValidationOutcome;
import dev.backfill.ValidationTransaction;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.postgres.internal.batch.BreachException;
import dev.backfill.postgres.internal.jdbc.GuardedConnection;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.jdbc.SqlText;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.KeySql;
import dev.backfill.postgres.internal.row.Readability;
import dev.backfill.postgres.internal.supervise.LentSession;
import dev.backfill.postgres.internal.validate.ValidationSql.Begun;
import dev.backfill.postgres.internal.validate.ValidationSql.Span;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Runs a definition's proofs in one READ ONLY, REPEATABLE READ transaction that is always rolled back (VA-2, EV-4). Changes nothing
 * and decides nothing. Thread-safe.
 */
public final class ValidationRunner {

    private static final Duration SOCKET_MARGIN = Duration.ofSeconds(10);

    private final Sessions sessions;
    private final Duration timeout;
    private final ValidationSql sql;

    /** Runs on those sessions, within those limits. */
    public ValidationRunner(Sessions sessions, Names names, EngineOptions options) {
        this.sessions = sessions;
        this.timeout = options.validationTimeout();
        this.sql = new ValidationSql(names, options);
    }

    /** What came of it. */
    public sealed interface Result {

        /** The one function of these that fits. */
        default <T extends @Nullable Object> T match(
                Function<Ran, T> ran,
                Function<Busy, T> busy,
                Function<BehindBarrier, T> behindBarrier,
                Function<Unreadable, T> unreadable,
                Function<Failed, T> failed) {
            if (this instanceof Ran it) {
                return ran.apply(it);
            }
            if (this instanceof Busy it) {
                return busy.apply(it);
            }
            if (this instanceof BehindBarrier it) {
                return behindBarrier.apply(it);
            }
            return this instanceof Unreadable it ? unreadable.apply(it) : failed.apply((Failed) this);
        }

        /**
         * It ran.
         *
         * @param outcome what it found
         * @param row the row in the snapshot that was judged
         */
        record Ran(ValidationOutcome outcome, Begun row) implements Result {}

        /** Another validation of this ID is under way. */
        record Busy() implements Result {}

        /**
         * Transactions that wrote before the bound was captured are still open (SR-6).
         *
         * @param overdue whether a claim has waited for them longer than it may
         */
        record BehindBarrier(boolean overdue) implements Result {}

        /** The row is gone, or this process can't read it. */
        record Unreadable() implements Result {}

        /**
         * It could not run, or broke the rules.
         *
         * @param cause why
         */
        record Failed(Throwable cause) implements Result {}
    }

    /** What is to happen, in a transaction of its own, once it is certain that no other validation of this ID is under way. */
    @FunctionalInterface
    public interface Alone {
        /** Called with the slot held. */
        void begin() throws SQLException;
    }

    /** How long PostgreSQL lets it run. */
    public Duration timeout() {
        return timeout;
    }

    /** Runs it. */
    public Result run(BackfillDefinition<?> definition, LentSession lent) {
        return run(definition, lent, () -> {});
    }

    /**
     * Runs it, and says so first.
     *
     * @param lent what its code works with
     * @param alone is told before its code is entered
     */
    @SuppressWarnings(
            "checkstyle:IllegalCatch") // An Error of a definition is the definition's failure, whatever its class.
    public Result run(BackfillDefinition<?> definition, LentSession lent, Alone alone) {
        try (Session session = sessions.open(timeout.plus(SOCKET_MARGIN))) {
            try {
                Optional<Begun> row = sql.begin(session, definition);
                if (row.isEmpty()
                        || !Readability.judge(row.get().facts(), definition).yes()) {
                    return new Result.Unreadable();
                }
                Begun begun = row.get();
                if (!begun.alone()) {
                    return new Result.Busy();
                }
                if (begun.elsewhere() != null) {
                    return new Result.Failed(BreachException.ofTarget(begun.elsewhere()));
                }
                if (definition.startBarrier() && !begun.barrierPassed()) {
                    return new Result.BehindBarrier(begun.overdue());
                }
                alone.begin();
                ValidationOutcome outcome =
                        lent.during(session::abort, () -> proveReadOnly(session, definition, begun.span()));
                return ended(session, begun, outcome);
            } catch (SQLException e) {
                session.failed(e);
                return new Result.Failed(e);
            } catch (Exception | Error e) {
                return new Result.Failed(e);
            }
        } catch (SQLException e) {
            return new Result.Failed(e);
        }
    }

    private Result ended(Session session, Begun begun, ValidationOutcome outcome) throws SQLException, BreachException {
        ValidationSql.Ended ended = sql.end(session);
        if (!ended.untouched()) {
            throw new BreachException(DiagnosticCode.VALIDATION_WROTE, DiagnosticCode.VALIDATION_WROTE.meaning(), null);
        }
        if (!ended.current()) {
            throw new SQLException(
                    "a table was rewritten under the validation, whose snapshot does not show its rows", "40001");
        }
        return new Result.Ran(outcome, begun);
    }

    /** PostgreSQL refuses what writes; that is the definition's breach, not the server's trouble. */
    private static ValidationOutcome proveReadOnly(
            Session session, BackfillDefinition<?> definition, @Nullable Span span) throws Exception {
        try {
            return prove(session, definition, span);
        } catch (Exception e) {
            SQLException sql = SqlFailure.in(e);
            if (sql != null && SqlFailure.isWriteInReadOnly(sql)) {
                throw new BreachException(
                        DiagnosticCode.VALIDATION_WROTE, DiagnosticCode.VALIDATION_WROTE.meaning(), sql);
            }
            throw e;
        }
    }

    private static <K> ValidationOutcome prove(Session session, BackfillDefinition<K> definition, @Nullable Span span)
            throws Exception {
        KeySql key = new KeySql(definition.table(), definition.key());
        for (Validation validation : definition.validations()) {
            ValidationOutcome outcome = validation
                    .<Callable<ValidationOutcome>>match(
                            none -> () -> noRowMatches(session, key, span, none),
                            custom -> () -> custom(session, definition, key, span, typed(custom)))
                    .call();
            if (!outcome.<Boolean>match(holds -> true, rejected -> false, unmet -> false)) {
                return outcome;
            }
        }
        return ValidationOutcome.holds();
    }

    @SuppressWarnings("unchecked") // The definition's builder takes a validation for its own key type only.
    private static <K> Validation.Custom<K> typed(Validation.Custom<?> validation) {
        return (Validation.Custom<K>) validation;
    }

    private static ValidationOutcome noRowMatches(
            Session session, KeySql key, @Nullable Span span, NoRowMatches validation) throws SQLException {
        return ValidationSql.findMatch(session, key, span, SqlText.escapeOperators(validation.condition()) + "\n")
                .map(found -> ValidationOutcome.rejected(
                        "A row at or below the bound is not repaired; its key is (" + String.join(", ", found) + ")."))
                .orElseGet(ValidationOutcome::holds);
    }

    private static <K> ValidationOutcome custom(
            Session session,
            BackfillDefinition<K> definition,
            KeySql key,
            @Nullable Span span,
            Validation.Custom<K> validation)
            throws Exception {
        GuardedConnection guarded = new GuardedConnection(session.connection());
        ValidationOutcome outcome;
        try {
            outcome = validation.check(new ReadTransaction<>(guarded.proxy(), definition, key, span));
        } finally {
            guarded.end();
            BreachException.throwIfRefused(guarded);
        }
        BreachException.throwIfSwallowed(guarded, session);
        return outcome;
    }

    private record ReadTransaction<K>(
            Connection connection,
            BackfillDefinition<K> definition,
            KeySql key,
            @Nullable Span span) implements ValidationTransaction<K> {
        @Override
        public Optional<K> bound() {
            return span == null
                    ? Optional.empty()
                    : Optional.of(definition.key().decode(span.bound()));
        }

        @Override
        public Optional<K> after() {
            return span == null || span.low() == null
                    ? Optional.empty()
                    : Optional.of(definition.key().decode(span.low()));
        }

        @Override
        public String withinBound(String alias) {
            return span == null
                    ? "false"
                    : ValidationSql.within(key, dev.backfill.internal.Identifiers.quote(alias), span);
        }
    }
}
