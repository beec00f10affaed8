package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillId;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillSnapshot;
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

    /**
     * What is told of an answer.
     *
     * @param outcome its code
     * @param generation the generation of the row that came with it; 0 for none
     */
    record Told(String outcome, long generation) {

        /** That there was one. */
        static final Told ANSWERED = new Told("answered", 0);

        private static Told of(String outcome, boolean replayed, BackfillSnapshot now) {
            return new Told(replayed ? "replayed" : outcome, now.claim().generation());
        }
    }

    /** What is told of the outcome of an action. */
    static Told told(ActionOutcome outcome) {
        return outcome.match(
                applied -> Told.of("applied", applied.replayed(), applied.now()),
                converged -> Told.of("converged", converged.replayed(), converged.now()),
                conflict -> Told.of(conflict.code().wireName(), conflict.replayed(), conflict.now()));
    }

    /** What is told of a validation. */
    static Told told(ValidationReport report) {
        return report.match(
                success -> Told.of("success", success.replayed(), success.now()),
                failure -> Told.of("failure", failure.replayed(), failure.now()),
                none -> Told.of("current_state", false, none.now()),
                refused -> told(refused.conflict()));
    }

    /** A control was answered. */
    void answered(OperatorRequest request, String action, Told told, long startedNanos) {
        String code = action + "." + told.outcome();
        events.publish(BackfillEvent.of(Kind.OPERATOR_ACTION, request.id(), told.generation(), code)
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
}
