package dev.backfill.postgres.internal.row;

import dev.backfill.BackfillId;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.ControlRequest;
import dev.backfill.operate.OperatorRequest;
import org.jspecify.annotations.Nullable;

/**
 * What is asked, by whom, under which request ID: the identity of a request in ledger and audit (IK-3).
 *
 * @param requestId its ID
 * @param action the action's wire name
 * @param id the backfill
 * @param authority who asks
 * @param note the operator's note
 * @param parameters what is asked beyond the action, as a versioned text that two requests share only if they ask the same; null for
 *     actions without parameters
 * @param decidedOn the generation on which it was decided; null for whatever the row has. No part of the identity
 */
public record Asked(
        String requestId,
        String action,
        BackfillId id,
        Authority authority,
        @Nullable String note,
        @Nullable String parameters,
        @Nullable Long decidedOn) {

    /** Of a lifecycle request. */
    public static Asked of(OperatorRequest request) {
        return new Asked(
                request.requestId(),
                request.action().wireName(),
                request.id(),
                request.authority(),
                request.note(),
                null,
                request.decidedOn());
    }

    /** Of a request that moves nothing in the row. */
    public static Asked of(ControlRequest request, String action, @Nullable String parameters) {
        return new Asked(
                request.requestId(),
                action,
                request.id(),
                request.authority(),
                request.note(),
                parameters,
                request.decidedOn());
    }

    /** The same request once it was decided: what follows is fenced by what was judged. */
    public Asked decided() {
        return new Asked(requestId, action, id, authority, note, parameters, null);
    }

    /** Its audit record. */
    public AuditRecord audited(@Nullable BackfillState prior, @Nullable Transition now, String outcome) {
        return new AuditRecord(
                authority,
                id,
                requestId,
                action,
                prior,
                now == null ? null : now.state(),
                now == null ? null : now.generation(),
                outcome,
                note);
    }
}
