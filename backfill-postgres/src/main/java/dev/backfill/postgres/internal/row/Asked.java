package dev.backfill.postgres.internal.row;

import dev.backfill.BackfillId;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
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

    /** Of a request for an action. */
    public static Asked of(BackfillAction action, OperatorRequest request) {
        return of(action.wireName(), request, null);
    }

    /** Of a request for what its name says. */
    public static Asked of(String action, OperatorRequest request, @Nullable String parameters) {
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
    public AuditRecord audited(@Nullable BackfillState prior, @Nullable Transition now, AuditRecord.Outcome outcome) {
        return AuditRecord.of(authority, action, outcome)
                .about(id)
                .answering(requestId)
                .moved(prior, now == null ? null : now.state(), now == null ? null : now.generation())
                .note(note)
                .build();
    }
}
