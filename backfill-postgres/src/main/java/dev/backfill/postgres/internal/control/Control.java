package dev.backfill.postgres.internal.control;

import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Diagnostic;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.row.Asked;
import dev.backfill.postgres.internal.row.LedgerSql.Stored;
import dev.backfill.postgres.internal.row.RowSql.Row;
import dev.backfill.postgres.internal.row.Transition;
import java.sql.SQLException;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A request as a value that {@link ControlTransaction} runs.
 *
 * @param <T> its answer
 */
interface Control<T> {

    /** What is asked, by whom. */
    Asked asked();

    /** Whether it may move the row, which is then locked; any other waits for no batch. */
    boolean movesTheRow();

    /** Whether an earlier request with its ID asked the same (IK-3). */
    default boolean repeats(Stored earlier) {
        return earlier.sameRequest() && Objects.equals(earlier.parameters(), asked().parameters());
    }

    /** The answer to a request that was answered before. */
    T replay(Session session, Row row, Stored earlier) throws SQLException;

    /** Decides and changes, in the request's transaction; throws {@link RefusedException} to take everything back. */
    Decision<T> decide(Session session, Row row) throws SQLException;

    /** Records what followed from the decision by itself, after its own record and in the same transaction. */
    default void follow(Session session, T answer) throws SQLException {}

    /** The answer to a request that was refused. */
    T refused(ActionOutcome.Conflict conflict);

    /**
     * What was decided.
     *
     * @param outcome what the audit record says
     * @param prior the state that was judged
     * @param now where the row stands
     * @param result the result that is stored for good; null for none, so that the same request asks again
     * @param diagnostic what belongs to the result, or null
     * @param answer what the caller is told
     */
    record Decision<T>(
            AuditRecord.Outcome outcome,
            BackfillState prior,
            Transition now,
            @Nullable String result,
            @Nullable Diagnostic diagnostic,
            T answer) {

        /** One that moved nothing and is stored for good. */
        static <T> Decision<T> still(Row row, AuditRecord.Outcome outcome, T answer) {
            return new Decision<>(outcome, row.state(), row.position(), outcome.wireName(), null, answer);
        }

        /** One that moved nothing and is no final answer. */
        static <T> Decision<T> open(Row row, AuditRecord.Outcome outcome, T answer) {
            return new Decision<>(outcome, row.state(), row.position(), null, null, answer);
        }
    }
}
