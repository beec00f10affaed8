package dev.backfill.operate;

import dev.backfill.BackfillId;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * One accepted or rejected attempt (AU-3), as it is written and as it is read back. All text is bounded and cleaned. Immutable.
 *
 * @since 0.1
 */
public final class AuditRecord {

    private final Builder is;

    private AuditRecord(Builder is) {
        this.is = is;
    }

    /** The beginning of a record; for the engine, and for doubles of {@link BackfillOperations}. */
    public static Builder of(Authority authority, String action, Outcome outcome) {
        return new Builder(authority, action, outcome);
    }

    /** Its number, rising; 0 for a record that is being written. */
    public long auditId() {
        return is.auditId;
    }

    /** When, by PostgreSQL's clock; null for a record that is being written. */
    public @Nullable Instant at() {
        return is.at;
    }

    /** Who asked; of what a newer library wrote, the kind may be {@link Authority.Kind#OTHER}. */
    public Authority authority() {
        return is.authority;
    }

    /** The backfill; null where a request named none. */
    public @Nullable BackfillId id() {
        return is.id;
    }

    /** The request; null for the engine's own transitions. */
    public @Nullable String requestId() {
        return is.requestId;
    }

    /** The action's wire name, or what else was attempted. */
    public String action() {
        return is.action;
    }

    /** The state before; null where no row was read, or for a state that only a newer library knows. */
    public @Nullable BackfillState priorState() {
        return is.priorState;
    }

    /** The state after; equal to the prior one when nothing moved, null as there. */
    public @Nullable BackfillState resultingState() {
        return is.resultingState;
    }

    /** The generation after; null where no row was read. */
    public @Nullable Long generation() {
        return is.generation;
    }

    /** What became of it. */
    public Outcome outcome() {
        return is.outcome;
    }

    /** The operator's note, or a code; null for none. */
    public @Nullable String note() {
        return is.note;
    }

    /** Without the note. */
    @Override
    public String toString() {
        return "AuditRecord[" + is.authority + " " + is.action + " of " + is.id + ": " + is.outcome.wireName() + "]";
    }

    /** What became of an attempt. */
    public enum Outcome {
        /** A control or a transition of the engine that changed something, or a validation that was accepted. */
        APPLIED,
        /** A control whose aim was already reached. */
        CONVERGED,
        /** A repeat of an answered request. */
        REPLAYED,
        /** Refused, as {@link ConflictCode#ILLEGAL_TRANSITION}. */
        ILLEGAL_TRANSITION,
        /** Refused, as {@link ConflictCode#REQUEST_ID_REUSED}. */
        REQUEST_ID_REUSED,
        /** Refused, as {@link ConflictCode#UNKNOWN_HERE}. */
        UNKNOWN_HERE,
        /** Refused, as {@link ConflictCode#INCOMPATIBLE_SCHEMA}. */
        INCOMPATIBLE_SCHEMA,
        /** Refused, as {@link ConflictCode#PREFLIGHT_FAILED}. */
        PREFLIGHT_FAILED,
        /** Refused, as {@link ConflictCode#GENERATION_CONFLICT}. */
        GENERATION_CONFLICT,
        /** A control of a known caller that was not carried out, because the request was malformed. */
        MALFORMED,
        /** An explicit validation that held. */
        SUCCESS,
        /** An explicit validation that rejected. */
        FAILURE,
        /** An explicit validation without a result. */
        CURRENT_STATE,
        /** A control of an ID that is not registered. */
        UNKNOWN_ID,
        /** A control that met a locked row, or a boundary that had no room for it. */
        BUSY,
        /** A denial. */
        DENIED,
        /** The count of a flood of denials. */
        DENIED_SUMMARY,
        /** What a newer library wrote; never written by this one. */
        OTHER;

        /** The name in the table, the HTTP API and logs. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }

        /** The outcome of that wire name; {@link #OTHER} for one that this library does not know. */
        public static Outcome ofWireName(String name) {
            for (Outcome outcome : values()) {
                if (outcome.wireName().equals(name)) {
                    return outcome;
                }
            }
            return OTHER;
        }

        /** The outcome of a refusal. */
        public static Outcome of(ConflictCode code) {
            return valueOf(code.name());
        }
    }

    /** Collects a record. Confined to one thread; used for one record. */
    public static final class Builder {

        private final Authority authority;
        private final String action;
        private final Outcome outcome;
        private long auditId;
        private @Nullable Instant at;
        private @Nullable BackfillId id;
        private @Nullable String requestId;
        private @Nullable BackfillState priorState;
        private @Nullable BackfillState resultingState;
        private @Nullable Long generation;
        private @Nullable String note;

        private Builder(Authority authority, String action, Outcome outcome) {
            this.authority = authority;
            this.action = action;
            this.outcome = outcome;
        }

        /** As it is stored. */
        public Builder stored(long auditId, Instant at) {
            this.auditId = auditId;
            this.at = at;
            return this;
        }

        /** Of which backfill. */
        public Builder about(@Nullable BackfillId id) {
            this.id = id;
            return this;
        }

        /** Under which request. */
        public Builder answering(@Nullable String requestId) {
            this.requestId = requestId;
            return this;
        }

        /** From where to where the row moved. */
        public Builder moved(
                @Nullable BackfillState priorState, @Nullable BackfillState resultingState, @Nullable Long generation) {
            this.priorState = priorState;
            this.resultingState = resultingState;
            this.generation = generation;
            return this;
        }

        /** The operator's note, or a code. */
        public Builder note(@Nullable String note) {
            this.note = note;
            return this;
        }

        /** The record. */
        public AuditRecord build() {
            return new AuditRecord(this);
        }
    }

    /**
     * A page of audit records, newest first.
     *
     * @param items the records
     * @param nextBefore what to ask for the next page, or null when there is none
     */
    public record Page(List<AuditRecord> items, @Nullable Long nextBefore) {
        /** Copies the list. */
        public Page {
            items = List.copyOf(items);
        }
    }
}
