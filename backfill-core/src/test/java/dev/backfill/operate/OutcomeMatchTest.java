package dev.backfill.operate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Each case of an outcome reaches its own function. */
class OutcomeMatchTest {

    private static final ActionOutcome.Refusal UNAVAILABLE =
            new ActionOutcome.Unavailable(BackfillUnavailableException.Reason.BUSY, "busy");

    private static String name(ActionOutcome outcome) {
        return outcome.match(
                applied -> "applied",
                converged -> "converged",
                refused -> refused.match(
                        conflict -> "conflict",
                        unknownId -> "unknown",
                        denied -> "denied",
                        unavailable -> unavailable.message()));
    }

    @Test
    void a_refusal_is_told_by_its_reason() {
        assertThat(List.of(new ActionOutcome.UnknownId(), new ActionOutcome.Denied(), UNAVAILABLE))
                .extracting(OutcomeMatchTest::name)
                .containsExactly("unknown", "denied", "busy");
    }

    @Test
    void every_refused_outcome_hands_its_refusal_on() {
        assertThat(new PaceOutcome.Refused(UNAVAILABLE)
                        .<ActionOutcome>match(inForce -> new ActionOutcome.Denied(), PaceOutcome.Refused::refusal))
                .isSameAs(UNAVAILABLE);
        assertThat(new RehearsalOutcome.Refused(UNAVAILABLE)
                        .<ActionOutcome>match(done -> new ActionOutcome.Denied(), RehearsalOutcome.Refused::refusal))
                .isSameAs(UNAVAILABLE);
        assertThat(new ValidationReport.Refused(UNAVAILABLE)
                        .<Object>match(held -> 1, failed -> 2, none -> 3, ValidationReport.Refused::refusal))
                .isSameAs(UNAVAILABLE);
    }

    @Test
    void a_refusal_can_not_be_an_applied_outcome() {
        assertThat(Arrays.asList(ActionOutcome.Refusal.class.getPermittedSubclasses()))
                .containsExactlyInAnyOrder(
                        ActionOutcome.Conflict.class,
                        ActionOutcome.UnknownId.class,
                        ActionOutcome.Denied.class,
                        ActionOutcome.Unavailable.class);
    }
}
