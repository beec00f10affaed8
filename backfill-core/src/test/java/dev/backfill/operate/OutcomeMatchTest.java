package dev.backfill.operate;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Arrays;
import org.junit.jupiter.api.Test;

/** What was refused can hold nothing that was applied. */
class OutcomeMatchTest {

    @Test
    void an_action_is_applied_converged_or_in_conflict() {
        assertThat(Arrays.asList(ActionOutcome.class.getPermittedSubclasses()))
                .containsExactlyInAnyOrder(
                        ActionOutcome.Applied.class, ActionOutcome.Converged.class, ActionOutcome.Conflict.class);
    }

    @Test
    void every_refused_outcome_holds_a_conflict() {
        assertThat(Arrays.asList(
                        Pace.Outcome.Refused.class, Rehearsal.Outcome.Refused.class, ValidationReport.Refused.class))
                .allSatisfy(refused -> assertThat(refused.getRecordComponents())
                        .extracting(java.lang.reflect.RecordComponent::getType)
                        .containsExactly(ActionOutcome.Conflict.class));
    }
}
