package dev.backfill.admin;

import dev.backfill.BackfillId;
import dev.backfill.BackfillSnapshot;
import dev.backfill.BackfillSnapshot.Bound;
import dev.backfill.BackfillSnapshot.BoundKind;
import dev.backfill.BackfillSnapshot.Claim;
import dev.backfill.BackfillSnapshot.ClaimStatus;
import dev.backfill.BackfillSnapshot.Progress;
import dev.backfill.BackfillSnapshot.Retry;
import dev.backfill.BackfillSnapshot.Times;
import dev.backfill.BackfillSnapshot.ValidationDisposition;
import dev.backfill.BackfillSnapshot.ValidationStatus;
import dev.backfill.BackfillState;
import dev.backfill.Diagnostic;
import dev.backfill.Waiting;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Backfills to show, each of them legal by the schema's own checks. Immutable; every verb makes a new one. */
record Rows(BackfillSnapshot row) {

    static final Instant T0 = Instant.parse("2026-11-29T02:10:00.123456Z");

    private static final Claim NO_CLAIM = new Claim(ClaimStatus.NONE, null, 0, null);

    static Rows pending(String id) {
        return new Rows(new BackfillSnapshot(
                BackfillId.of(id),
                "Computes thread_root for events written before threads existed",
                Map.of("team", "messaging"),
                BackfillState.PENDING,
                true,
                false,
                new Bound(BoundKind.NONE, null),
                null,
                List.of("bigint"),
                new Progress(0, 0, 0, null, null, null, null),
                NO_CLAIM,
                new Retry(0, 10, null, null),
                null,
                new ValidationStatus(ValidationDisposition.NOT_RUN, null, null, null),
                null,
                new Times(T0, null, null, null, null),
                null));
    }

    static Rows running(String id) {
        return pending(id)
                .state(BackfillState.RUNNING)
                .progress(84_210, 200_000L)
                .claimedBy("relay-7f9c/4711");
    }

    Rows state(BackfillState state) {
        boolean started = state != BackfillState.PENDING;
        boolean done = state == BackfillState.COMPLETED;
        Times times = new Times(
                row.times().registeredAt(),
                started ? T0.plusSeconds(60) : null,
                row.times().lastProgressAt(),
                done || state == BackfillState.VALIDATING ? T0.plusSeconds(600) : null,
                done ? T0.plusSeconds(660) : null);
        Bound bound = started && row.bound().kind() == BoundKind.NONE
                ? new Bound(BoundKind.AT, List.of("200000"))
                : row.bound();
        Claim claim = state.isWorking()
                ? row.claim()
                : new Claim(ClaimStatus.NONE, null, row.claim().generation(), null);
        return with(state, bound, claim, times, done ? "0/3F2A9B8" : null);
    }

    Rows progress(long scanned, @Nullable Long total) {
        Double fraction = total == null ? null : (double) scanned / total;
        Duration eta = total == null ? null : Duration.ofSeconds((total - scanned) / 1_400);
        Progress progress = new Progress(scanned, scanned / 3, scanned / 1_000, fraction, total, 1_412.5, eta);
        Times times = row.times();
        return new Rows(copy(
                row.state(),
                row.bound(),
                List.of(Long.toString(scanned)),
                progress,
                row.claim(),
                row.retry(),
                row.diagnostic(),
                row.validation(),
                row.waiting(),
                new Times(
                        times.registeredAt(),
                        times.startedAt(),
                        T0.plusSeconds(120),
                        times.validatingAt(),
                        times.completedAt()),
                row.completedLsn()));
    }

    Rows claimedBy(String owner) {
        return with(
                row.state(),
                row.bound(),
                new Claim(ClaimStatus.HELD, owner, row.claim().generation() + 1, T0.plusSeconds(150)),
                row.times(),
                row.completedLsn());
    }

    Rows diagnostic(BackfillState state, String code, String message, @Nullable String sqlState) {
        Diagnostic diagnostic = new Diagnostic(code, message, sqlState, T0.plusSeconds(300));
        Rows stopped = state(state);
        BackfillSnapshot r = stopped.row;
        return new Rows(copy(
                r.state(),
                r.bound(),
                r.checkpoint(),
                r.progress(),
                r.claim(),
                new Retry(3, 10, null, diagnostic),
                diagnostic,
                r.validation(),
                null,
                r.times(),
                r.completedLsn()));
    }

    Rows retryAt(Instant next, String code, String message) {
        Diagnostic error = new Diagnostic(code, message, "40P01", T0.plusSeconds(200));
        Waiting waiting = new Waiting(Waiting.Reason.RETRY_DELAY, "attempt 3 of 10 after " + code, T0.plusSeconds(200));
        return new Rows(copy(
                row.state(),
                row.bound(),
                row.checkpoint(),
                row.progress(),
                new Claim(ClaimStatus.NONE, null, row.claim().generation(), null),
                new Retry(3, 10, next, error),
                null,
                row.validation(),
                waiting,
                row.times(),
                row.completedLsn()));
    }

    Rows waiting(Waiting.Reason reason, String detail) {
        return new Rows(copy(
                row.state(),
                row.bound(),
                row.checkpoint(),
                row.progress(),
                row.claim(),
                row.retry(),
                row.diagnostic(),
                row.validation(),
                new Waiting(reason, detail, T0.plusSeconds(30)),
                row.times(),
                row.completedLsn()));
    }

    Rows validation(ValidationDisposition disposition, @Nullable String requestId, @Nullable Diagnostic diagnostic) {
        return new Rows(copy(
                row.state(),
                row.bound(),
                row.checkpoint(),
                row.progress(),
                row.claim(),
                row.retry(),
                row.diagnostic(),
                new ValidationStatus(disposition, T0.plusSeconds(700), requestId, diagnostic),
                row.waiting(),
                row.times(),
                row.completedLsn()));
    }

    Rows required() {
        return known(row.knownHere(), true, row.description());
    }

    Rows unknownHere() {
        return known(false, row.required(), row.description());
    }

    Rows described(String description) {
        return known(row.knownHere(), row.required(), description);
    }

    private Rows known(boolean here, boolean required, String description) {
        return new Rows(new BackfillSnapshot(
                row.id(),
                description,
                row.labels(),
                row.state(),
                here,
                required,
                row.bound(),
                row.checkpoint(),
                row.keyType(),
                row.progress(),
                row.claim(),
                row.retry(),
                row.diagnostic(),
                row.validation(),
                row.waiting(),
                row.times(),
                row.completedLsn()));
    }

    private Rows with(BackfillState state, Bound bound, Claim claim, Times times, @Nullable String lsn) {
        return new Rows(copy(
                state,
                bound,
                row.checkpoint(),
                row.progress(),
                claim,
                row.retry(),
                row.diagnostic(),
                row.validation(),
                row.waiting(),
                times,
                lsn));
    }

    // One place that knows the record's order; the parameters are the components.
    @SuppressWarnings("checkstyle:ParameterNumber")
    private BackfillSnapshot copy(
            BackfillState state,
            Bound bound,
            @Nullable List<String> checkpoint,
            Progress progress,
            Claim claim,
            Retry retry,
            @Nullable Diagnostic diagnostic,
            ValidationStatus validation,
            @Nullable Waiting waiting,
            Times times,
            @Nullable String lsn) {
        return new BackfillSnapshot(
                row.id(),
                row.description(),
                row.labels(),
                state,
                row.knownHere(),
                row.required(),
                bound,
                checkpoint,
                row.keyType(),
                progress,
                claim,
                retry,
                diagnostic,
                validation,
                waiting,
                times,
                lsn);
    }
}
