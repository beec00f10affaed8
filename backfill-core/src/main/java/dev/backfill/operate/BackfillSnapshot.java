package dev.backfill.operate;

import dev.backfill.BackfillId;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * One backfill as PostgreSQL had it at one moment (RM-1, RM-3). What is unknown is null, never zero (RM-2). Immutable. The engine makes
 * them, and so do doubles of {@link BackfillOperations}.
 *
 * @since 0.1
 */
public final class BackfillSnapshot {

    private final Builder is;

    private BackfillSnapshot(Builder is) {
        this.is = is;
    }

    /** The beginning of a snapshot: a backfill that was registered at that time and not touched since. */
    public static Builder of(BackfillId id, BackfillState state, Instant registeredAt) {
        return new Builder(id, state, registeredAt);
    }

    /** The ID. */
    public BackfillId id() {
        return is.id;
    }

    /** One sentence. */
    public String description() {
        return is.description;
    }

    /** Descriptive labels. */
    public Map<String, String> labels() {
        return is.labels;
    }

    /** The family that it is a part of; null for a backfill of a whole source. */
    public @Nullable BackfillId family() {
        return is.family;
    }

    /** The lifecycle state. */
    public BackfillState state() {
        return is.state;
    }

    /** Whether this process has the definition and can read the row: its format, its key type and its range (ID-5). */
    public boolean knownHere() {
        return is.knownHere;
    }

    /** Whether this process's readiness needs it. */
    public boolean required() {
        return is.required;
    }

    /** The upper bound. */
    public Bound bound() {
        return is.bound;
    }

    /** Canonical text of each key column, or null before the first commit. */
    public @Nullable List<String> checkpoint() {
        return is.checkpoint;
    }

    /** The types of the key's columns; null when no definition was ever registered. */
    public @Nullable List<String> keyType() {
        return is.keyType;
    }

    /** Counters and what is derived from them. */
    public Progress progress() {
        return is.progress;
    }

    /** Who works on it. */
    public Claim claim() {
        return is.claim;
    }

    /** What the failure policy holds in store. */
    public Retry retry() {
        return is.retry;
    }

    /** Why it stands still, for {@code blocked} and {@code failed}; null otherwise. */
    public @Nullable Diagnostic diagnostic() {
        return is.diagnostic;
    }

    /** The latest explicit validation. */
    public ValidationStatus validation() {
        return is.validation;
    }

    /** Why nothing moves right now; null when something does, or nothing is meant to. */
    public @Nullable Waiting waiting() {
        return is.waiting;
    }

    /** When things happened, by PostgreSQL's clock. */
    public Times times() {
        return is.times;
    }

    /** The WAL position of the completion; null before. */
    public @Nullable String completedLsn() {
        return is.completedLsn;
    }

    /** The actions that do something now. */
    public Set<BackfillAction> actions() {
        return BackfillAction.legalFrom(is.state);
    }

    /** Whether it came to its end over keys without changing a row: right where nothing was left to repair, else worth a look. */
    public boolean changedNothing() {
        return is.state == BackfillState.COMPLETED && is.bound.kind() == BoundKind.AT && is.progress.rowsChanged() == 0;
    }

    /**
     * The inclusive upper bound, and for a part of a family the exclusive lower one.
     *
     * @param kind whether there is one
     * @param key canonical text of each key column; null unless the kind is {@link BoundKind#AT}
     * @param after the key after which the range begins; null where it begins with the source's first key
     */
    public record Bound(
            BoundKind kind,
            @Nullable List<String> key,
            @Nullable List<String> after) {}

    /** Whether there is a bound. */
    public enum BoundKind {
        /** Not started. */
        NONE,
        /** Started on an empty source (LC-5). */
        EMPTY,
        /** Started; the bound is a key. */
        AT;

        /** The name in the HTTP API. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * How far it is.
     *
     * @param rowsScanned keys scanned, each counted once
     * @param rowsChanged rows changed
     * @param batches batches committed
     * @param fraction 0 to 1, or null where it can't be defended
     * @param rowsTotal keys up to the bound, or null until known
     * @param rowsPerSecond over the time that work was under way; null until known
     * @param eta time left at that rate, or null where it can't be defended
     */
    public record Progress(
            long rowsScanned,
            long rowsChanged,
            long batches,
            @Nullable Double fraction,
            @Nullable Long rowsTotal,
            @Nullable Double rowsPerSecond,
            @Nullable Duration eta) {}

    /**
     * The claim.
     *
     * @param status whether somebody holds it
     * @param owner for people; null without a claim
     * @param generation the fencing generation, rising
     * @param expiresAt when it lapses unless renewed; null without a claim
     */
    public record Claim(
            ClaimStatus status,
            @Nullable String owner,
            long generation,
            @Nullable Instant expiresAt) {}

    /** Whether a claim is held. */
    public enum ClaimStatus {
        /** No claim. */
        NONE,
        /** A claim that PostgreSQL's clock still honours. */
        HELD,
        /** A claim whose owner stopped renewing; anybody may take over. */
        EXPIRED;

        /** The name in the HTTP API. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * What the failure policy holds in store.
     *
     * @param attempt claims since the last committed progress
     * @param maxAttempts how many there may be, by this process's options
     * @param nextAt when the next claim is permitted; null when it is now
     * @param lastError the error of the last attempt, or null
     */
    public record Retry(
            int attempt,
            int maxAttempts,
            @Nullable Instant nextAt,
            @Nullable Diagnostic lastError) {}

    /**
     * The latest explicit validation.
     *
     * @param disposition what it found
     * @param at when it ended, or began if it is running; null if none ever ran
     * @param requestId the request that asked for it
     * @param diagnostic why it rejected
     */
    public record ValidationStatus(
            ValidationDisposition disposition,
            @Nullable Instant at,
            @Nullable String requestId,
            @Nullable Diagnostic diagnostic) {}

    /** What the latest explicit validation found. */
    public enum ValidationDisposition {
        /** None ever ended. */
        NOT_RUN,
        /** One is under way. */
        RUNNING,
        /** The postcondition held. */
        SUCCESS,
        /** It did not. */
        FAILURE;

        /** The name in the HTTP API. */
        public String wireName() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * When things happened.
     *
     * @param registeredAt the first registration
     * @param startedAt when the bound was captured
     * @param lastProgressAt the last committed batch
     * @param validatingAt when the checkpoint reached the bound
     * @param completedAt the completion
     */
    public record Times(
            Instant registeredAt,
            @Nullable Instant startedAt,
            @Nullable Instant lastProgressAt,
            @Nullable Instant validatingAt,
            @Nullable Instant completedAt) {}

    /** ID, state and generation; nothing of its rows. */
    @Override
    public String toString() {
        return "BackfillSnapshot[" + is.id + " " + is.state.wireName() + ", generation " + is.claim.generation() + "]";
    }

    /** Collects a snapshot. Confined to one thread; used for one snapshot. */
    public static final class Builder {

        private final BackfillId id;
        private String description = "";
        private Map<String, String> labels = Map.of();
        private @Nullable BackfillId family;
        private final BackfillState state;
        private boolean knownHere;
        private boolean required;
        private Bound bound = new Bound(BoundKind.NONE, null, null);
        private @Nullable List<String> checkpoint;
        private @Nullable List<String> keyType;
        private Progress progress = new Progress(0, 0, 0, null, null, null, null);
        private Claim claim = new Claim(ClaimStatus.NONE, null, 0, null);
        private Retry retry = new Retry(0, 0, null, null);
        private @Nullable Diagnostic diagnostic;
        private ValidationStatus validation = new ValidationStatus(ValidationDisposition.NOT_RUN, null, null, null);
        private @Nullable Waiting waiting;
        private Times times;
        private @Nullable String completedLsn;

        private Builder(BackfillId id, BackfillState state, Instant registeredAt) {
            this.id = id;
            this.state = state;
            this.times = new Times(registeredAt, null, null, null, null);
        }

        /** Its definition's words. */
        public Builder described(String description, Map<String, String> labels, @Nullable BackfillId family) {
            this.description = description;
            this.labels = labels;
            this.family = family;
            return this;
        }

        /** What this process has to do with it. */
        public Builder here(boolean knownHere, boolean required) {
            this.knownHere = knownHere;
            this.required = required;
            return this;
        }

        /** How far its keys go. */
        public Builder keys(Bound bound, @Nullable List<String> checkpoint, @Nullable List<String> keyType) {
            this.bound = bound;
            this.checkpoint = checkpoint;
            this.keyType = keyType;
            return this;
        }

        /** How far it is. */
        public Builder progress(Progress progress) {
            this.progress = progress;
            return this;
        }

        /** Who works on it. */
        public Builder claim(Claim claim) {
            this.claim = claim;
            return this;
        }

        /** What fails. */
        public Builder failing(Retry retry, @Nullable Diagnostic diagnostic) {
            this.retry = retry;
            this.diagnostic = diagnostic;
            return this;
        }

        /** The latest explicit validation. */
        public Builder validation(ValidationStatus validation) {
            this.validation = validation;
            return this;
        }

        /** Why nothing moves. */
        public Builder waiting(@Nullable Waiting waiting) {
            this.waiting = waiting;
            return this;
        }

        /** When things happened. */
        public Builder times(Times times, @Nullable String completedLsn) {
            this.times = times;
            this.completedLsn = completedLsn;
            return this;
        }

        /** The snapshot. */
        public BackfillSnapshot build() {
            return new BackfillSnapshot(this);
        }
    }
}
