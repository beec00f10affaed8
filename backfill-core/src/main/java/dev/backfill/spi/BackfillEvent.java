package dev.backfill.spi;

import dev.backfill.BackfillId;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One thing that happened, without row data.
 *
 * @param kind what
 * @param id to which backfill; null for events of the whole process
 * @param generation the fencing generation; 0 where none applies
 * @param code what the kind says more exactly: a diagnostic or finding code, guard, action and outcome, verdict, signal, kind of
 *     authority or what was read, from fixed vocabularies; null where none applies
 * @param took how long it took; null where nothing was timed
 * @param rowsScanned keys scanned by a batch
 * @param rowsChanged rows changed by a batch
 * @param who the claim's owner, or the operator's name or kind of authority; for logs, never a metric label; null where nobody acts
 * @param requestId the operator's request ID; null where none applies
 * @since 0.1
 */
public record BackfillEvent(
        Kind kind,
        @Nullable BackfillId id,
        long generation,
        @Nullable String code,
        @Nullable Duration took,
        long rowsScanned,
        long rowsChanged,
        @Nullable String who,
        @Nullable String requestId) {

    /** An event that only names what happened. */
    public static BackfillEvent of(Kind kind, @Nullable BackfillId id, long generation, @Nullable String code) {
        return new BackfillEvent(kind, id, generation, code, null, 0, 0, null, null);
    }

    /** The same event with a duration, or without one for null. */
    public BackfillEvent took(@Nullable Duration duration) {
        return new BackfillEvent(kind, id, generation, code, duration, rowsScanned, rowsChanged, who, requestId);
    }

    /** The same event with what a batch did. */
    public BackfillEvent rows(long scanned, long changed) {
        return new BackfillEvent(kind, id, generation, code, took, scanned, changed, who, requestId);
    }

    /** The same event with who acted. */
    public BackfillEvent by(@Nullable String actor) {
        return new BackfillEvent(kind, id, generation, code, took, rowsScanned, rowsChanged, actor, requestId);
    }

    /** The same event with the request it answers. */
    public BackfillEvent answering(@Nullable String request) {
        return new BackfillEvent(kind, id, generation, code, took, rowsScanned, rowsChanged, who, request);
    }

    /** The kinds of event. */
    public enum Kind {
        /** A free claim was acquired. */
        CLAIMED,
        /** An expired claim was taken over. */
        TAKEN_OVER,
        /** A claim was renewed outside a batch. */
        RENEWED,
        /** A claim was given back in order. */
        RELEASED,
        /** A batch began. */
        BATCH_ATTEMPTED,
        /** A batch and its checkpoint committed. */
        BATCH_COMMITTED,
        /** A stale owner's work was rejected; the code is the guard that did it. */
        FENCED,
        /** An operator moved the backfill on under a worker; the code is the state now. */
        STOPPED,
        /** A failure was recorded and a retry scheduled. */
        RETRY_SCHEDULED,
        /** Some rows of a window can't be repaired; the claim is kept and a smaller window tried at once. */
        NARROWED,
        /** The row entered {@code blocked}. */
        BLOCKED,
        /** The row entered {@code failed}. */
        FAILED,
        /** The checkpoint reached the bound. */
        VALIDATING,
        /** A validation began. */
        VALIDATION_ATTEMPTED,
        /** A validation ran; the code says what it found. */
        VALIDATED,
        /** The row was completed. */
        COMPLETED,
        /** Pacing or a health signal slows work; told once for each signal and claim. */
        THROTTLED,
        /** The start barrier delays work; told once for each claim. */
        BARRIER_WAIT,
        /** A definition's tables or columns are missing; told when that changes, not at every look. */
        SCHEMA_INCOMPATIBLE,
        /** A claimable row exists that this process can't read, and why; told when that changes, not at every look. */
        UNKNOWN_HERE,
        /** The unknown outcome of a COMMIT was settled from the row; the code says how. */
        COMMIT_SETTLED,
        /** A control was answered; the code is action and outcome, {@code pause.applied}. */
        OPERATOR_ACTION,
        /** Somebody was denied. */
        ACCESS_DENIED,
        /** Detailed diagnostics were read (AU-6). */
        DIAGNOSTICS_READ;

        /** The name in metrics and logs. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }
}
