package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillId;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.ControlRequest;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.ValidationReport;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.spi.BackfillEvent;
import dev.backfill.spi.BackfillEvent.Kind;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Tells of what operators ask for: each answered control once, each denial, each read of diagnostics (AU-6). Thread-safe.
 *
 * @param events where it is told
 */
public record OperatorEvents(Events events) {

    /** A control was answered. */
    ActionOutcome answered(OperatorRequest request, ActionOutcome outcome, long startedNanos) {
        publish(request, name(outcome), generation(outcome), startedNanos);
        return outcome;
    }

    /** A validation was answered. */
    ValidationReport answered(OperatorRequest request, ValidationReport report, long startedNanos) {
        String outcome = report.match(
                success -> success.replayed() ? "replayed" : "success",
                failure -> failure.replayed() ? "replayed" : "failure",
                none -> "current_state",
                refused -> name(refused.refusal()));
        long generation = report.match(
                success -> generation(success.now()),
                failure -> generation(failure.now()),
                none -> generation(none.now()),
                refused -> generation(refused.refusal()));
        publish(request, outcome, generation, startedNanos);
        return report;
    }

    /** A control beside the lifecycle was answered. */
    void answered(ControlRequest request, String action, long startedNanos) {
        events.publish(BackfillEvent.of(Kind.OPERATOR_ACTION, request.id(), 0, action + ".answered")
                .by(who(request.authority()))
                .answering(request.requestId())
                .took(Duration.ofNanos(System.nanoTime() - startedNanos)));
    }

    private void publish(OperatorRequest request, String outcome, long generation, long startedNanos) {
        String code = request.action().wireName() + "." + outcome;
        events.publish(BackfillEvent.of(Kind.OPERATOR_ACTION, request.id(), generation, code)
                .by(who(request.authority()))
                .answering(request.requestId())
                .took(Duration.ofNanos(System.nanoTime() - startedNanos)));
    }

    /** Somebody was denied. */
    void denied(Authority authority) {
        events.publish(
                BackfillEvent.of(Kind.ACCESS_DENIED, null, 0, authority.kind().wireName())
                        .by(authority.name()));
    }

    /** Diagnostics were read; what was read is not told. */
    void read(Authority authority, @Nullable BackfillId id, String what) {
        events.publish(BackfillEvent.of(Kind.DIAGNOSTICS_READ, id, 0, what).by(who(authority)));
    }

    private static String who(Authority authority) {
        return authority.name() == null ? authority.kind().wireName() : authority.name();
    }

    private static String name(ActionOutcome outcome) {
        return outcome.match(
                applied -> applied.replayed() ? "replayed" : "applied",
                converged -> converged.replayed() ? "replayed" : "converged",
                refused -> refused.match(
                        conflict -> conflict.replayed()
                                ? "replayed"
                                : conflict.code().wireName(),
                        unknownId -> "unknown_id",
                        denied -> "denied",
                        unavailable -> unavailable.reason().wireName()));
    }

    private static long generation(ActionOutcome outcome) {
        return outcome.match(
                applied -> generation(applied.now()),
                converged -> generation(converged.now()),
                refused -> refused.match(
                        conflict -> generation(conflict.now()), unknownId -> 0L, denied -> 0L, unavailable -> 0L));
    }

    private static long generation(BackfillSnapshot now) {
        return now.claim().generation();
    }
}
