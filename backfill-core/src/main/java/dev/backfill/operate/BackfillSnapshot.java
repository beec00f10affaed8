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
 * One backfill as PostgreSQL had it at one moment (RM-1, RM-3). What is unknown is null, never zero (RM-2).
 *
 * @param id the ID
 * @param description one sentence
 * @param labels descriptive labels
 * @param family the family that it is a part of; null for a backfill of a whole source
 * @param state the lifecycle state
 * @param knownHere whether this process has the definition and can read the row: its format, its key type and its range (ID-5)
 * @param required whether this process's readiness needs it
 * @param bound the upper bound
 * @param checkpoint canonical text of each key column, or null before the first commit
 * @param keyType the types of the key's columns; null when no definition was ever registered
 * @param progress counters and what is derived from them
 * @param claim who works on it
 * @param retry what the failure policy holds in store
 * @param diagnostic why it stands still, for {@code blocked} and {@code failed}; null otherwise
 * @param validation the latest explicit validation
 * @param waiting why nothing moves right now; null when something does, or nothing is meant to
 * @param times when things happened, by PostgreSQL's clock
 * @param completedLsn the WAL position of the completion; null before
 * @since 0.1
 */
public record BackfillSnapshot(
        BackfillId id,
        String description,
        Map<String, String> labels,
        @Nullable BackfillId family,
        BackfillState state,
        boolean knownHere,
        boolean required,
        Bound bound,
        @Nullable List<String> checkpoint,
        @Nullable List<String> keyType,
        Progress progress,
        Claim claim,
        Retry retry,
        @Nullable Diagnostic diagnostic,
        ValidationStatus validation,
        @Nullable Waiting waiting,
        Times times,
        @Nullable String completedLsn) {

    /** The actions that do something now. */
    public Set<BackfillAction> actions() {
        return BackfillAction.legalFrom(state);
    }

    /** Whether it came to its end over keys without changing a row: right where nothing was left to repair, else worth a look. */
    public boolean changedNothing() {
        return state == BackfillState.COMPLETED && bound.kind() == BoundKind.AT && progress.rowsChanged() == 0;
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
}
