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

    private final Kind kind;
    private final @Nullable BackfillId id;
    private final long generation;
    private final @Nullable String code;
    private final @Nullable Duration took;
    private final long rowsScanned;
    private final long rowsChanged;
    private final @Nullable String who;
    private final @Nullable String requestId;

    private BackfillEvent(
            Kind kind,
            @Nullable BackfillId id,
            long generation,
            @Nullable String code,
            @Nullable Duration took,
            long rowsScanned,
            long rowsChanged,
            @Nullable String who,
            @Nullable String requestId) {
        this.kind = kind;
        this.id = id;
        this.generation = generation;
        this.code = code;
        this.took = took;
        this.rowsScanned = rowsScanned;
        this.rowsChanged = rowsChanged;
        this.who = who;
        this.requestId = requestId;
    }

    /** What. */
    public Kind kind() {
        return kind;
    }

    /** To which backfill; null for events of the whole process. */
    public @Nullable BackfillId id() {
        return id;
    }

    /** The fencing generation; 0 where none applies. */
    public long generation() {
        return generation;
    }

    /** What the kind says more exactly: a diagnostic or finding code, guard, action and outcome, verdict, signal, kind of authority or what was read, from fixed vocabularies; null where none applies. */
    public @Nullable String code() {
        return code;
    }

    /** How long it took; null where nothing was timed. */
    public @Nullable Duration took() {
        return took;
    }

    /** Keys scanned by a batch. */
    public long rowsScanned() {
        return rowsScanned;
    }

    /** Rows changed by a batch. */
    public long rowsChanged() {
        return rowsChanged;
    }

    /** The claim's owner, or the operator's name or kind of authority; for logs, never a metric label; null where nobody acts. */
    public @Nullable String who() {
        return who;
    }

    /** The operator's request ID; null where none applies. */
    public @Nullable String requestId() {
        return requestId;
    }

    /** Everything that is known of it, each fact with its name. */
    @Override
    public String toString() {
        return "BackfillEvent[kind=" + kind + ", id=" + id + ", generation=" + generation + ", code=" + code + ", took="
                + took
                + ", rowsScanned=" + rowsScanned + ", rowsChanged=" + rowsChanged + ", who=" + who + ", requestId="
                + requestId
                + "]";
    }

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
