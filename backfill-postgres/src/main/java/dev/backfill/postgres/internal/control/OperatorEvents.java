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
        if (report instanceof ValidationReport.Success success) {
            publish(request, success.replayed() ? "replayed" : "success", generation(success.now()), startedNanos);
        } else if (report instanceof ValidationReport.Failure failure) {
            publish(request, failure.replayed() ? "replayed" : "failure", generation(failure.now()), startedNanos);
        } else if (report instanceof ValidationReport.CurrentState current) {
            publish(request, "current_state", generation(current.now()), startedNanos);
        } else {
            ActionOutcome refusal = ((ValidationReport.Refused) report).refusal();
            publish(request, name(refusal), generation(refusal), startedNanos);
        }
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
        if (outcome instanceof ActionOutcome.Applied applied) {
            return applied.replayed() ? "replayed" : "applied";
        }
        if (outcome instanceof ActionOutcome.Converged converged) {
            return converged.replayed() ? "replayed" : "converged";
        }
        if (outcome instanceof ActionOutcome.Conflict conflict) {
            return conflict.replayed() ? "replayed" : conflict.code().wireName();
        }
        if (outcome instanceof ActionOutcome.Unavailable unavailable) {
            return unavailable.reason().wireName();
        }
        return outcome instanceof ActionOutcome.UnknownId ? "unknown_id" : "denied";
    }

    private static long generation(ActionOutcome outcome) {
        if (outcome instanceof ActionOutcome.Applied applied) {
            return generation(applied.now());
        }
        if (outcome instanceof ActionOutcome.Converged converged) {
            return generation(converged.now());
        }
        return outcome instanceof ActionOutcome.Conflict conflict ? generation(conflict.now()) : 0;
    }

    private static long generation(BackfillSnapshot now) {
        return now.claim().generation();
    }
}
