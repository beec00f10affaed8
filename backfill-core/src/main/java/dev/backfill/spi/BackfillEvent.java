package dev.backfill.spi;

import dev.backfill.BackfillId;
import java.time.Duration;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One thing that happened, without row data. Immutable; begins with {@link #of}.
 *
 * @since 0.1
 */
public final class BackfillEvent {

    private final Facts is;

    private BackfillEvent(Facts is) {
        this.is = is;
    }

    private record Facts(
            Kind kind,
            @Nullable BackfillId id,
            long generation,
            @Nullable String code,
            @Nullable Duration took,
            long rowsScanned,
            long rowsChanged,
            @Nullable String who,
            @Nullable String requestId) {}

    /** What. */
    public Kind kind() {
        return is.kind;
    }

    /** To which backfill; null for events of the whole process. */
    public @Nullable BackfillId id() {
        return is.id;
    }

    /** The fencing generation; 0 where none applies. */
    public long generation() {
        return is.generation;
    }

    /** What the kind says more exactly: a diagnostic or finding code, guard, action and outcome, verdict, signal, kind of authority or what was read, from fixed vocabularies; null where none applies. */
    public @Nullable String code() {
        return is.code;
    }

    /** How long it took; null where nothing was timed. */
    public @Nullable Duration took() {
        return is.took;
    }

    /** Keys scanned by a batch. */
    public long rowsScanned() {
        return is.rowsScanned;
    }

    /** Rows changed by a batch. */
    public long rowsChanged() {
        return is.rowsChanged;
    }

    /** The claim's owner, or the operator's name or kind of authority; for logs, never a metric label; null where nobody acts. */
    public @Nullable String who() {
        return is.who;
    }

    /** The operator's request ID; null where none applies. */
    public @Nullable String requestId() {
        return is.requestId;
    }

    /** Everything that is known of it, each fact with its name. */
    @Override
    public String toString() {
        return "BackfillEvent[kind=" + is.kind + ", id=" + is.id + ", generation=" + is.generation + ", code=" + is.code
                + ", took="
                + is.took
                + ", rowsScanned=" + is.rowsScanned + ", rowsChanged=" + is.rowsChanged + ", who=" + is.who
                + ", requestId="
                + is.requestId
                + "]";
    }

    /** An event that only names what happened. */
    public static BackfillEvent of(Kind kind, @Nullable BackfillId id, long generation, @Nullable String code) {
        return new BackfillEvent(new Facts(kind, id, generation, code, null, 0, 0, null, null));
    }

    /** The same event with a duration, or without one for null. */
    public BackfillEvent took(@Nullable Duration duration) {
        return new BackfillEvent(new Facts(
                is.kind,
                is.id,
                is.generation,
                is.code,
                duration,
                is.rowsScanned,
                is.rowsChanged,
                is.who,
                is.requestId));
    }

    /** The same event with what a batch did. */
    public BackfillEvent rows(long scanned, long changed) {
        return new BackfillEvent(
                new Facts(is.kind, is.id, is.generation, is.code, is.took, scanned, changed, is.who, is.requestId));
    }

    /** The same event with who acted. */
    public BackfillEvent by(@Nullable String actor) {
        return new BackfillEvent(new Facts(
                is.kind, is.id, is.generation, is.code, is.took, is.rowsScanned, is.rowsChanged, actor, is.requestId));
    }

    /** The same event with the request it answers. */
    public BackfillEvent answering(@Nullable String request) {
        return new BackfillEvent(new Facts(
                is.kind, is.id, is.generation, is.code, is.took, is.rowsScanned, is.rowsChanged, is.who, request));
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
