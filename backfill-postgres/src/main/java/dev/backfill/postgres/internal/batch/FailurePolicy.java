package dev.backfill.postgres.internal.batch;

import dev.backfill.BlockedException;
import dev.backfill.RetryableException;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.postgres.internal.jdbc.Diagnostics;
import dev.backfill.postgres.internal.jdbc.RowFunctionException;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.supervise.OverdueException;
import java.sql.SQLException;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * What follows from a failure (RB): the one place that decides. Pure.
 *
 * @param options the budgets
 */
public record FailurePolicy(EngineOptions options) {

    /** What to do. */
    public enum Kind {
        /** Release, delay, charge the attempt. */
        RETRY,
        /** Release, delay, charge the contention budget instead. */
        RETRY_CONTENTION,
        /** Keep the claim and try a smaller window; with a single key, find out whether it is the key's or the definition's. */
        NARROW,
        /** Enter {@code blocked}. */
        BLOCK,
        /** Enter {@code failed}. */
        FAIL
    }

    /**
     * What to do, and what operators are told.
     *
     * @param kind what to do
     * @param diagnostic what is stored
     * @param tooSlow whether a smaller window is worth a try
     */
    public record Decision(Kind kind, Diagnostic diagnostic, boolean tooSlow) {}

    /**
     * A batch that failed.
     *
     * @param thrown what it threw
     * @param window the most keys that it could hold
     * @param took its time
     */
    public record Failure(Throwable thrown, int window, Duration took) {}

    /** Decides about a batch. Whether its error depends on a row is nothing that the error's class could say (RB-4). */
    public Decision ofBatch(Failure failure, Claim claim) {
        Throwable thrown = failure.thrown();
        if (thrown instanceof BreachException breach) {
            String message = breach.getMessage() + " " + breach.code().remedy();
            SQLException sql = SqlFailure.in(breach.getCause());
            return decide(Kind.BLOCK, Diagnostic.of(breach.code(), message, sql == null ? null : sql.getSQLState()));
        }
        SQLException sql = SqlFailure.in(thrown);
        if (thrown instanceof OverdueException || (sql != null && SqlFailure.isTransactionTimeout(sql))) {
            Decision overdue = overdue(claim);
            // A smaller window needs less time, and costs nothing to try; only for a single key there is none.
            return failure.window() > 1 ? decide(Kind.NARROW, overdue.diagnostic()) : overdue;
        }
        if (isAuthorsWord(thrown)) {
            return common(thrown, claim, sql);
        }
        if (sql != null && SqlFailure.isCancelled(sql)) {
            return cancelled(failure, claim);
        }
        boolean ofRows = sql == null || SqlFailure.of(sql).mayBeOfRows();
        return ofRows
                ? decide(Kind.NARROW, Diagnostics.of(suspected(thrown, sql), thrown))
                : common(thrown, claim, sql);
    }

    /** What is shown until narrowing has found out. */
    private static DiagnosticCode suspected(Throwable thrown, @Nullable SQLException sql) {
        SqlFailure failure = sql == null ? SqlFailure.DEFINITION : SqlFailure.of(sql);
        if (thrown instanceof RowFunctionException || failure == SqlFailure.DATA) {
            return DiagnosticCode.DATA_ERROR;
        }
        return failure == SqlFailure.SCHEMA ? DiagnosticCode.INCOMPATIBLE_SCHEMA : DiagnosticCode.DEFINITION_ERROR;
    }

    /** Decides about an error that stays with every row: the definition's, or of the schema that it stands on. */
    public Decision ofDefinition(Throwable thrown, Claim claim) {
        return common(thrown, claim, SqlFailure.in(thrown));
    }

    /** A statement that was cancelled before its limit was cancelled by somebody; one at its limit was too slow, or waited for locks. */
    private Decision cancelled(Failure failure, Claim claim) {
        boolean atLimit = failure.took().compareTo(options.statementTimeout()) >= 0;
        if (!atLimit) {
            // Whoever cancelled may have a limit of their own, which less work keeps.
            return contended(DiagnosticCode.STATEMENT_CANCELLED, failure.thrown(), claim, true);
        }
        // A longer wait for a lock would have ended as one.
        boolean waited = options.lockTimeout().compareTo(options.statementTimeout()) >= 0;
        if (waited) {
            return contended(DiagnosticCode.CONTENTION, failure.thrown(), claim, true);
        }
        Decision slow = charged(DiagnosticCode.STATEMENT_TOO_SLOW, failure.thrown(), claim);
        return failure.window() > 1
                ? contended(DiagnosticCode.STATEMENT_TOO_SLOW, failure.thrown(), claim, true)
                : slow;
    }

    /** Decides about a validation that could not run (RB-6). */
    public Decision ofValidation(Throwable thrown, Claim claim) {
        if (thrown instanceof BreachException || thrown instanceof OverdueException) {
            return ofBatch(new Failure(thrown, 1, options.validationTimeout()), claim);
        }
        SQLException sql = SqlFailure.in(thrown);
        if (sql != null && SqlFailure.isTooSlow(sql)) {
            return charged(DiagnosticCode.VALIDATION_TIMED_OUT, thrown, claim);
        }
        return common(thrown, claim, sql);
    }

    private Decision common(Throwable thrown, Claim claim, @Nullable SQLException sql) {
        if (thrown instanceof BlockedException) {
            return decide(Kind.BLOCK, Diagnostics.of(DiagnosticCode.BLOCKED_BY_DEFINITION, thrown));
        }
        if (thrown instanceof RetryableException) {
            return charged(DiagnosticCode.RETRY_REQUESTED, thrown, claim);
        }
        if (sql == null) {
            return charged(DiagnosticCode.DEFINITION_ERROR, thrown, claim);
        }
        return switch (SqlFailure.of(sql)) {
            case CONTENTION -> contended(DiagnosticCode.CONTENTION, thrown, claim, SqlFailure.isTooSlow(sql));
            case INFRASTRUCTURE, STALE_PLAN ->
                contended(
                        DiagnosticCode.INFRASTRUCTURE,
                        thrown,
                        claim,
                        SqlFailure.isTooSlow(sql) || SqlFailure.isOfSize(sql));
            case SCHEMA -> decide(Kind.BLOCK, Diagnostics.of(DiagnosticCode.INCOMPATIBLE_SCHEMA, thrown));
            case DATA, DEFINITION -> charged(DiagnosticCode.DEFINITION_ERROR, thrown, claim);
        };
    }

    private static boolean isAuthorsWord(Throwable thrown) {
        return thrown instanceof BlockedException || thrown instanceof RetryableException;
    }

    private Decision charged(DiagnosticCode code, Throwable thrown, Claim claim) {
        Kind kind = claim.attempts() >= options.maxAttempts() ? Kind.FAIL : Kind.RETRY;
        return decide(kind, Diagnostics.of(code, thrown));
    }

    /** Decides about code that had more than its time, whether it came back or not. */
    public Decision overdue(Claim claim) {
        DiagnosticCode code = DiagnosticCode.DEADLINE_PASSED;
        Kind kind = claim.attempts() >= options.maxAttempts() ? Kind.FAIL : Kind.RETRY;
        return new Decision(kind, Diagnostic.of(code, code.meaning() + " " + code.remedy(), null), true);
    }

    private Decision contended(DiagnosticCode code, Throwable thrown, Claim claim, boolean tooSlow) {
        if (claim.contended() + 1 >= options.contentionBudget()) {
            return decide(Kind.FAIL, Diagnostics.of(DiagnosticCode.CONTENTION_EXHAUSTED, thrown));
        }
        return new Decision(Kind.RETRY_CONTENTION, Diagnostics.of(code, thrown), tooSlow);
    }

    private static Decision decide(Kind kind, Diagnostic diagnostic) {
        return new Decision(kind, diagnostic, false);
    }
}
