package dev.backfill.admin;

import dev.backfill.BackfillId;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillSnapshot.Bound;
import dev.backfill.operate.BackfillSnapshot.BoundKind;
import dev.backfill.operate.BackfillSnapshot.Claim;
import dev.backfill.operate.BackfillSnapshot.ClaimStatus;
import dev.backfill.operate.BackfillSnapshot.Progress;
import dev.backfill.operate.BackfillSnapshot.Retry;
import dev.backfill.operate.BackfillSnapshot.Times;
import dev.backfill.operate.BackfillSnapshot.ValidationDisposition;
import dev.backfill.operate.BackfillSnapshot.ValidationStatus;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.Waiting;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Backfills to show, each of them legal by the schema's own checks. Every verb changes a copy. */
final class Rows implements Cloneable {

    static final Instant T0 = Instant.parse("2026-11-29T02:10:00.123456Z");

    private final BackfillId id;
    private String description = "Computes thread_root for events written before threads existed";
    private BackfillState state = BackfillState.PENDING;
    private boolean knownHere = true;
    private boolean required;
    private @Nullable BackfillId family;
    private Map<String, String> labels = Map.of("team", "messaging");
    private Progress progress = new Progress(0, 0, 0, null, null, null, null);
    private @Nullable List<String> checkpoint;
    private @Nullable Instant lastProgressAt;
    private @Nullable String owner;
    private long generation;
    private Retry retry = new Retry(0, 10, null, null);
    private @Nullable Diagnostic diagnostic;
    private ValidationStatus validation = new ValidationStatus(ValidationDisposition.NOT_RUN, null, null, null);
    private @Nullable Waiting waiting;

    private Rows(String id) {
        this.id = BackfillId.of(id);
    }

    static Rows pending(String id) {
        return new Rows(id);
    }

    static Rows running(String id) {
        return pending(id)
                .state(BackfillState.RUNNING)
                .progress(84_210, 200_000L)
                .claimedBy("relay-7f9c/4711");
    }

    /** The same row as it was read, in another state. */
    static BackfillSnapshot moved(BackfillSnapshot row, BackfillState to) {
        Rows rows = pending(row.id().value()).described(row.description()).state(to);
        rows.required = row.required();
        rows.progress = row.progress();
        rows.checkpoint = row.checkpoint();
        rows.lastProgressAt = row.times().lastProgressAt();
        rows.generation = row.claim().generation() + 1;
        return rows.row();
    }

    BackfillSnapshot row() {
        boolean started = state != BackfillState.PENDING;
        boolean done = state == BackfillState.COMPLETED;
        boolean held = owner != null && state.isWorking();
        return BackfillSnapshot.of(id, state, T0)
                .described(description, labels, family)
                .here(knownHere, required)
                .keys(
                        new Bound(started ? BoundKind.AT : BoundKind.NONE, started ? List.of("200000") : null, null),
                        checkpoint,
                        List.of("bigint"))
                .progress(progress)
                .claim(new Claim(
                        held ? ClaimStatus.HELD : ClaimStatus.NONE,
                        held ? owner : null,
                        generation,
                        held ? T0.plusSeconds(150) : null))
                .failing(retry, diagnostic)
                .validation(validation)
                .waiting(waiting)
                .times(
                        new Times(
                                T0,
                                started ? T0.plusSeconds(60) : null,
                                lastProgressAt,
                                done || state == BackfillState.VALIDATING ? T0.plusSeconds(600) : null,
                                done ? T0.plusSeconds(660) : null),
                        done ? "0/3F2A9B8" : null)
                .build();
    }

    Rows state(BackfillState to) {
        Rows copy = copy();
        copy.state = to;
        return copy;
    }

    Rows progress(long scanned, @Nullable Long total) {
        Rows copy = copy();
        copy.progress = new Progress(
                scanned,
                scanned / 3,
                scanned / 1_000,
                total == null ? null : (double) scanned / total,
                total,
                1_412.5,
                total == null ? null : Duration.ofSeconds((total - scanned) / 1_400));
        copy.checkpoint = List.of(Long.toString(scanned));
        copy.lastProgressAt = T0.plusSeconds(120);
        return copy;
    }

    Rows claimedBy(String name) {
        Rows copy = copy();
        copy.owner = name;
        copy.generation = generation + 1;
        return copy;
    }

    Rows diagnostic(BackfillState to, String code, String message, @Nullable String sqlState) {
        Rows copy = state(to);
        copy.diagnostic = new Diagnostic(code, message, sqlState, T0.plusSeconds(300));
        copy.retry = new Retry(3, 10, null, copy.diagnostic);
        return copy;
    }

    Rows retryAt(Instant next, String code, String message) {
        Rows copy = waiting(Waiting.Reason.RETRY_DELAY, "attempt 3 of 10 after " + code);
        copy.owner = null;
        copy.retry = new Retry(3, 10, next, new Diagnostic(code, message, "40P01", T0.plusSeconds(200)));
        return copy;
    }

    Rows waiting(Waiting.Reason reason, String detail) {
        Rows copy = copy();
        copy.waiting = new Waiting(reason, detail, T0.plusSeconds(30));
        return copy;
    }

    Rows validation(ValidationDisposition disposition, @Nullable String requestId, @Nullable Diagnostic why) {
        Rows copy = copy();
        copy.validation = new ValidationStatus(disposition, T0.plusSeconds(700), requestId, why);
        return copy;
    }

    Rows required() {
        Rows copy = copy();
        copy.required = true;
        return copy;
    }

    Rows partOf(String name) {
        Rows copy = copy();
        copy.family = BackfillId.of(name);
        return copy;
    }

    Rows labelled(Map<String, String> given) {
        Rows copy = copy();
        copy.labels = given;
        return copy;
    }

    Rows changedNothing() {
        Rows copy = copy();
        copy.progress = new Progress(progress.rowsScanned(), 0, 5, 1.0, progress.rowsScanned(), null, null);
        return copy;
    }

    Rows unknownHere() {
        Rows copy = copy();
        copy.knownHere = false;
        return copy;
    }

    Rows described(String text) {
        Rows copy = copy();
        copy.description = text;
        return copy;
    }

    private Rows copy() {
        try {
            return (Rows) clone();
        } catch (CloneNotSupportedException e) {
            throw new AssertionError(e);
        }
    }
}
