package dev.backfill.postgres.internal.batch;

import dev.backfill.operate.DiagnosticCode;
import dev.backfill.postgres.internal.jdbc.GuardedConnection;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.row.Target;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/** A definition broke its contract with the engine: the batch rolls back and the row is blocked (RB-4). */
public final class BreachException extends Exception {

    private static final long serialVersionUID = 1L;

    private final DiagnosticCode code;

    public BreachException(DiagnosticCode code, String message, @Nullable Throwable cause) {
        super(message, cause);
        this.code = code;
    }

    public DiagnosticCode code() {
        return code;
    }

    /** The table's name means another table than it did at start (SR-10). */
    public static BreachException ofTarget(String elsewhere) {
        return new BreachException(DiagnosticCode.INCOMPATIBLE_SCHEMA, Target.changed(elsewhere), null);
    }

    /** A rule of the table, made after the claim: what the repair's statement did and counted is not what it says. */
    static void throwIfReplaced(boolean replaced) throws BreachException {
        if (replaced) {
            throw new BreachException(
                    DiagnosticCode.INCOMPATIBLE_SCHEMA,
                    "A rule of the table runs something else instead of the repair's UPDATE. Drop or disable it.",
                    null);
        }
    }

    /** A repair whose SQL reaches beyond its window, by a stray parenthesis for instance: no bound holds for it (BB-6). */
    static void throwIfBeyond(long changed, long scanned) throws BreachException {
        if (changed > scanned) {
            throw new BreachException(
                    DiagnosticCode.WINDOW_EXCEEDED,
                    "The repair changed " + changed + " rows, and its window held " + scanned + ".",
                    null);
        }
    }

    /** A refusal counts even when the definition's code has swallowed it, or has turned it into something else. */
    public static void throwIfRefused(GuardedConnection guarded) throws BreachException {
        SQLException error = guarded.lastError();
        String refusal = guarded.refusal() == null && error != null && SqlFailure.isTransactionControl(error)
                ? "COMMIT or ROLLBACK in a procedure, function or DO block"
                : guarded.refusal();
        if (refusal != null) {
            throw new BreachException(
                    DiagnosticCode.TRANSACTION_CONTROL_REFUSED,
                    "The definition used " + refusal + ", which is refused inside a batch or a validation.",
                    null);
        }
    }

    /**
     * A swallowed SQL error has aborted the transaction. Its cause decides: contention is retried as if it had been thrown; anything
     * else is the definition's breach. A transaction that is gone was ended from inside.
     */
    public static void throwIfSwallowed(GuardedConnection guarded, Session session)
            throws BreachException, SQLException {
        if (session.isIdle()) {
            throw new BreachException(
                    DiagnosticCode.TRANSACTION_ENDED_INSIDE,
                    "The transaction had ended when the definition returned.",
                    null);
        }
        SQLException error = guarded.lastError();
        if (session.isFailed() && error != null) {
            switch (SqlFailure.of(error)) {
                case CONTENTION, INFRASTRUCTURE, STALE_PLAN -> throw error;
                default ->
                    throw new BreachException(
                            DiagnosticCode.SQL_ERROR_SWALLOWED,
                            "The definition went on after a SQL error, and the transaction can't be committed.",
                            error);
            }
        }
    }
}
