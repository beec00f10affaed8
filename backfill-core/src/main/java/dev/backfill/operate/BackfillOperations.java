package dev.backfill.operate;

import dev.backfill.BackfillId;
import dev.backfill.Pacing;
import dev.backfill.operate.Authority.Capability;
import org.jspecify.annotations.Nullable;

/**
 * The operator plane: everything that can be seen and steered, each call authorized, controls audited and idempotent (IK, AU).
 *
 * <p>For callers: the engine implements it, and methods are added in minor releases. A test double extends the testkit's
 * {@code OperationsDouble}, which then goes on compiling.
 *
 * <p>Thread-safe. Every call opens and ends its own transaction on a connection of the host's source and returns within the
 * operator time limits. Reads and controls throw {@link AccessDeniedException} where the authority lacks the capability, whatever was
 * asked, {@link UnknownBackfillException} for an ID without a row, and {@link BackfillUnavailableException} where PostgreSQL could not
 * be used: of a control nothing was stored or changed then, as far as is known, and the same request is safe to repeat. What became of
 * a control otherwise is its outcome.
 *
 * @since 0.1
 */
public interface BackfillOperations {

    /** Every backfill and the gate. Needs {@link Capability#READ}. */
    Overview list(Authority authority);

    /** One backfill in detail. Needs {@link Capability#READ}. */
    BackfillSnapshot show(Authority authority, BackfillId id);

    /**
     * Audit records, newest first. Needs {@link Capability#READ}.
     *
     * @param id only those of one backfill, or null for all, denials included
     * @param limit 1 to 200
     * @param before only records with a smaller number, or null for the newest
     * @throws IllegalArgumentException for a limit out of range
     */
    AuditRecord.Page audit(Authority authority, @Nullable BackfillId id, int limit, @Nullable Long before);

    /**
     * What would stand in the way of a start. Needs {@link Capability#READ}.
     *
     * @throws UnknownBackfillException also if this process has no definition of it: ask one that has
     */
    Preflight preflight(Authority authority, BackfillId id);

    /**
     * What is known of a backfill beside its lifecycle. Needs {@link Capability#READ}; leaves a trace (AU-6).
     */
    Evidence evidence(Authority authority, BackfillId id);

    /**
     * What may be done with a backfill now, with reasons (RM-4). Runs the preflight of one that is not started. Needs {@link
     * Capability#READ}.
     */
    default Verdicts verdicts(Authority authority, BackfillId id) {
        Evidence evidence = evidence(authority, id);
        boolean open = evidence.backfill().state() == BackfillState.PENDING
                && evidence.backfill().knownHere();
        return Verdicts.of(evidence, open ? preflight(authority, id) : null);
    }

    /**
     * How hard a backfill may press, and how the database fares. Needs {@link Capability#READ}. A process without the definition tells
     * its own pace as unlimited and measures no signal: ask one that has it.
     */
    Pace pace(Authority authority, BackfillId id);

    /**
     * Sets how hard a backfill may press, from its next batch on. Touches neither state, bound, checkpoint, generation nor claim.
     * Needs {@link Capability#CONTROL}. One transaction with its audit record; a repeat of the request changes nothing.
     *
     * @param pacing what shall be in force; null for the definition's own
     */
    Pace.Outcome pace(OperatorRequest request, @Nullable Pacing pacing);

    /**
     * A rehearsal: real batches at the first, a middle and the last window, each rolled back. Touches neither state, bound,
     * checkpoint, generation nor claim, and holds row locks for moments. Needs {@link Capability#CONTROL}; audited. A repeat of the
     * request rehearses again. What own code does outside its transaction is not rolled back.
     *
     * <p>Returns in bounded time: code that does not come back is interrupted, reported as {@link DiagnosticCode#DEADLINE_PASSED},
     * and ends the rehearsal. One definition is rehearsed once at a time in a process, and not at all while a thread is stuck in its
     * code: then it throws with {@link BackfillUnavailableException.Reason#BUSY}.
     */
    Rehearsal.Outcome rehearse(OperatorRequest request);

    /**
     * Captures the bound and enters {@code running}. Needs {@link Capability#CONTROL}. One transaction with its audit record.
     */
    ActionOutcome start(OperatorRequest request);

    /** Enters {@code paused} and clears the claim. As {@link #start}. */
    ActionOutcome pause(OperatorRequest request);

    /** Leaves {@code paused}. As {@link #start}. */
    ActionOutcome resume(OperatorRequest request);

    /** Leaves {@code blocked} or {@code failed}. As {@link #start}. */
    ActionOutcome retry(OperatorRequest request);

    /**
     * Runs the definition's read-only validation, or joins the one under way. Needs {@link Capability#CONTROL}. Answers within the
     * operator time limit; a longer validation goes on, and the same request asks for its outcome (EV-4).
     */
    ValidationReport validate(OperatorRequest request);

    /**
     * Whether an authority holds a capability, for boundaries that must answer before they know what is asked. A denial is audited,
     * in floods as counted summaries (AU-3).
     *
     * @param attempted what was asked, for the audit: an action's wire name, or {@code read}
     * @param id what it was asked of, as given, or null
     * @param requestId the request ID as given, or null
     */
    boolean authorize(
            Authority authority,
            Capability capability,
            String attempted,
            @Nullable String id,
            @Nullable String requestId);

    /**
     * Records that a request of somebody who may control was answered without having been carried out, for boundaries that refuse what
     * is malformed or what they have no room for. Audited under the name of who asked, in floods of one name as counted summaries under
     * that name (AU-3). Never throws.
     *
     * @param attempted what was asked, for the audit: an action's wire name
     * @param id what it was asked of, as given, or null
     * @param requestId the request ID as given, or null
     * @param outcome why: {@link AuditRecord.Outcome#MALFORMED} or {@link AuditRecord.Outcome#BUSY}
     */
    void rejected(
            Authority authority,
            String attempted,
            @Nullable String id,
            @Nullable String requestId,
            AuditRecord.Outcome outcome);
}
