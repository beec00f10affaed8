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
        /** Keep the claim and try a smaller window. */
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
     * Decides about a batch.
     *
     * @param window the most keys that the failed batch could hold
     */
    public Decision ofBatch(Throwable thrown, Claim claim, int window) {
        if (thrown instanceof BreachException breach) {
            String message = breach.getMessage() + " " + breach.code().remedy();
            SQLException sql = SqlFailure.in(breach.getCause());
            return decide(Kind.BLOCK, Diagnostic.of(breach.code(), message, sql == null ? null : sql.getSQLState()));
        }
        if (thrown instanceof RowFunctionException) {
            return data(thrown, window);
        }
        if (thrown instanceof OverdueException) {
            return overdue(claim);
        }
        SQLException sql = SqlFailure.in(thrown);
        if (sql != null && SqlFailure.of(sql) == SqlFailure.DATA && !isAuthorsWord(thrown)) {
            return data(thrown, window);
        }
        return common(thrown, claim, sql);
    }

    /** Decides about a validation that could not run (RB-6). */
    public Decision ofValidation(Throwable thrown, Claim claim) {
        if (thrown instanceof BreachException || thrown instanceof OverdueException) {
            return ofBatch(thrown, claim, 1);
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
                contended(DiagnosticCode.INFRASTRUCTURE, thrown, claim, SqlFailure.isTooSlow(sql));
            case SCHEMA -> decide(Kind.BLOCK, Diagnostics.of(DiagnosticCode.INCOMPATIBLE_SCHEMA, thrown));
            case DATA, DEFINITION -> charged(DiagnosticCode.DEFINITION_ERROR, thrown, claim);
        };
    }

    private static boolean isAuthorsWord(Throwable thrown) {
        return thrown instanceof BlockedException || thrown instanceof RetryableException;
    }

    private static Decision data(Throwable thrown, int window) {
        return decide(window > 1 ? Kind.NARROW : Kind.BLOCK, Diagnostics.of(DiagnosticCode.DATA_ERROR, thrown));
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
