package dev.backfill;

import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One thing that happened, without row data.
 *
 * @param kind what
 * @param id to which backfill; null for events of the whole process
 * @param generation the fencing generation; 0 where none applies
 * @param code a diagnostic code, guard, action outcome or signal name, from fixed vocabularies; null where none applies
 * @param took how long it took; null where nothing was timed
 * @param rowsScanned keys scanned by a batch
 * @param rowsChanged rows changed by a batch
 * @since 0.1
 */
public record BackfillEvent(
        Kind kind,
        @Nullable BackfillId id,
        long generation,
        @Nullable String code,
        @Nullable Duration took,
        long rowsScanned,
        long rowsChanged) {

    /** An event that only names what happened. */
    public static BackfillEvent of(Kind kind, @Nullable BackfillId id, long generation, @Nullable String code) {
        return new BackfillEvent(kind, id, generation, code, null, 0, 0);
    }

    /** The same event with a duration. */
    public BackfillEvent took(Duration duration) {
        return new BackfillEvent(kind, id, generation, code, duration, rowsScanned, rowsChanged);
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
        /** A stale owner's work was rejected. */
        FENCED,
        /** An operator moved the backfill on under a worker. */
        STOPPED,
        /** A failure was recorded and a retry scheduled. */
        RETRY_SCHEDULED,
        /** The row entered {@code blocked}. */
        BLOCKED,
        /** The row entered {@code failed}. */
        FAILED,
        /** The checkpoint reached the bound. */
        VALIDATING,
        /** A validation ran; the code says what it found. */
        VALIDATED,
        /** The row was completed. */
        COMPLETED,
        /** Pacing or a health signal slows work. */
        THROTTLED,
        /** The start barrier delays work. */
        BARRIER_WAIT,
        /** A definition's tables or columns are missing. */
        SCHEMA_INCOMPATIBLE,
        /** Claimable rows exist that this process does not know. */
        UNKNOWN_HERE,
        /** The unknown outcome of a COMMIT was settled from the row; the code says how. */
        COMMIT_SETTLED,
        /** An operator's control was answered; the code is action and outcome. */
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
