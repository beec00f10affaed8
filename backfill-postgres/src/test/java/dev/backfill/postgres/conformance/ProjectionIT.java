package dev.backfill.postgres.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillSnapshot.BoundKind;
import dev.backfill.operate.BackfillSnapshot.ClaimStatus;
import dev.backfill.operate.BackfillSnapshot.ValidationDisposition;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.TestDatabase;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Case 12, in the engine: what clients project from is honest about what it does not know, and names only legal actions. */
class ProjectionIT extends Case {

    ProjectionIT(TestDatabase db) {
        super(db);
    }

    @Test
    void what_is_unknown_before_the_start_is_null_and_not_zero() { // RM-1, RM-2
        BackfillHarness harness = open(counted());
        BackfillSnapshot now = harness.show(ID);
        assertThat(now.bound().kind()).isEqualTo(BoundKind.NONE);
        assertThat(now.bound().key()).isNull();
        assertThat(now.checkpoint()).isNull();
        assertThat(now.progress().rowsTotal()).isNull();
        assertThat(now.progress().fraction()).isNull();
        assertThat(now.progress().eta()).isNull();
        assertThat(now.times().startedAt()).isNull();
        assertThat(now.validation().disposition()).isEqualTo(ValidationDisposition.NOT_RUN);
        assertThat(now.claim().status()).isEqualTo(ClaimStatus.NONE);
    }

    @Test
    void every_read_comes_from_the_row() { // RM-3
        BackfillHarness harness = started();
        HarnessWorker worker = atWork(harness);
        assertThat(harness.show(ID).checkpoint()).isEqualTo(List.of("5"));
        harness.tamper(ID, "checkpoint", "{9}");
        assertThat(harness.show(ID).checkpoint()).isEqualTo(List.of("9"));
        assertThat(harness.show(ID).claim().status()).isEqualTo(ClaimStatus.HELD);
        harness.expireLease(ID);
        assertThat(harness.show(ID).claim().status()).isEqualTo(ClaimStatus.EXPIRED);
        worker.vanish();
    }

    @Test
    void a_read_that_fails_is_an_error_and_no_empty_answer() { // RM-2
        BackfillHarness harness = started();
        faults.before(FaultPoint.connect(), Fault.fail("08001"));
        assertThatThrownBy(() -> harness.show(ID)).isInstanceOf(BackfillUnavailableException.class);
        faults.before(FaultPoint.connect(), Fault.fail("08001"));
        assertThatThrownBy(() -> harness.operations().list(BackfillHarness.OPERATOR))
                .isInstanceOf(BackfillUnavailableException.class);
    }

    @ParameterizedTest
    @EnumSource(BackfillState.class)
    void a_row_names_the_actions_that_are_legal_now_and_no_others(BackfillState state) { // LC-2, IK-1
        assertThat(BackfillAction.legalFrom(state))
                .isEqualTo(Arrays.stream(BackfillAction.values())
                        .filter(action -> action == BackfillAction.VALIDATE
                                ? state != BackfillState.PENDING
                                : action.appliesFrom().contains(state))
                        .collect(Collectors.toSet()));
    }

    @Test
    void there_is_no_action_besides_the_five() { // IK-1
        assertThat(Arrays.stream(BackfillAction.values()).map(BackfillAction::wireName))
                .containsExactlyInAnyOrder("start", "pause", "resume", "retry", "validate");
        assertThat(Set.of(BackfillState.COMPLETED.next())).containsExactly(Set.of());
    }

    @Test
    void sixty_four_bits_survive_the_way_through_bound_and_checkpoint() { // SR-4
        db.execute("INSERT INTO items VALUES (9223372036854775806), (9223372036854775807)");
        BackfillHarness harness = open(counted());
        harness.runToCompletion(ID);
        assertThat(harness.show(ID).checkpoint()).isEqualTo(List.of("9223372036854775807"));
        assertEachRowOnce();
    }
}
