package dev.backfill.postgres.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.BackfillId;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Overview;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.Race;
import dev.backfill.testkit.TestDatabase;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Case 10: one logical request has one effect and one answer, however often and on whatever ways it arrives. */
class OperatorIdempotencyIT extends Case {

    private static final BackfillId OTHER = BackfillId.of("items.other.v1");
    private static final Authority SECOND = Authority.operator("second");

    OperatorIdempotencyIT(TestDatabase db) {
        super(db);
    }

    private BackfillHarness two() {
        return kept(BackfillHarness.over(db)
                .definitions(
                        counted(),
                        items(OTHER.value())
                                .repair(Repair.update().set("hits", "hits"))
                                .validate(Validation.noRowMatches("false"))
                                .build())
                .connections(faults)
                .operators((authority, capability) -> true)
                .open());
    }

    private static OperatorRequest request(Authority who, BackfillId id) {
        return new OperatorRequest(id, "the-same-key", who, null);
    }

    @Test
    void a_repeated_request_gets_its_original_answer_and_moves_nothing() { // IK-2
        BackfillHarness harness = started();
        OperatorRequest pause = request(BackfillHarness.OPERATOR, ID);
        assertThat(harness.operations().pause(pause)).isInstanceOf(ActionOutcome.Applied.class);
        harness.resume(ID);
        long generation = generation();
        assertThat(harness.operations().pause(pause))
                .isInstanceOfSatisfying(
                        ActionOutcome.Applied.class,
                        again -> assertThat(again.replayed()).isTrue());
        assertThat(state()).isEqualTo(BackfillState.RUNNING);
        assertThat(generation()).isEqualTo(generation);
    }

    @Test
    void a_request_that_was_decided_on_another_generation_is_refused_and_a_replay_is_answered_first() { // CL-3, IK-2
        BackfillHarness harness = started();
        long seen = generation();
        OperatorRequest pause =
                new OperatorRequest(ID, "decided-on-the-old-one", BackfillHarness.OPERATOR, null).decidedOn(seen);
        OperatorRequest earlier =
                new OperatorRequest(ID, "decided-in-time", BackfillHarness.OPERATOR, null).decidedOn(seen);
        assertThat(harness.operations().pause(earlier)).isInstanceOf(ActionOutcome.Applied.class);
        harness.resume(ID);
        assertThat(harness.operations().pause(pause))
                .isInstanceOfSatisfying(
                        ActionOutcome.Conflict.class,
                        refused -> assertThat(refused.code()).isEqualTo(ConflictCode.GENERATION_CONFLICT));
        assertThat(state()).isEqualTo(BackfillState.RUNNING);
        assertThat(harness.operations().pause(earlier))
                .isInstanceOfSatisfying(
                        ActionOutcome.Applied.class,
                        again -> assertThat(again.replayed()).isTrue());
        OperatorRequest now = new OperatorRequest(ID, "decided-on-the-old-one", BackfillHarness.OPERATOR, null)
                .decidedOn(generation());
        assertThat(harness.operations().pause(now)).isInstanceOf(ActionOutcome.Applied.class);
    }

    @Test
    void a_repeated_start_keeps_the_bound() { // IK-2, SR-1
        BackfillHarness harness = open(counted());
        OperatorRequest start = request(BackfillHarness.OPERATOR, ID);
        harness.operations().start(start);
        db.execute("INSERT INTO items VALUES (99)");
        harness.operations().start(start);
        harness.start(ID);
        assertThat(column("bound")).isEqualTo("{20}");
        assertThat(generation()).isEqualTo(1);
    }

    @Test
    void a_converged_repeat_raises_no_generation() { // IK-2, LC-4
        BackfillHarness harness = started();
        harness.pause(ID);
        long generation = generation();
        assertThat(harness.pause(ID)).isInstanceOf(ActionOutcome.Converged.class);
        assertThat(generation()).isEqualTo(generation);
    }

    @Test
    void a_control_that_was_decided_on_another_generation_is_a_conflict() { // CL-3, IK-4
        BackfillHarness harness = started();
        long decided = generation();
        harness.pause(ID);
        harness.resume(ID);
        long moved = generation();
        OperatorRequest late = request(BackfillHarness.OPERATOR, ID);
        assertThat(harness.operations().pause(late.decidedOn(decided)))
                .isInstanceOfSatisfying(ActionOutcome.Conflict.class, conflict -> {
                    assertThat(conflict.code()).isEqualTo(ConflictCode.GENERATION_CONFLICT);
                    assertThat(conflict.now().claim().generation()).isEqualTo(moved);
                });
        assertThat(state()).isEqualTo(BackfillState.RUNNING);
        assertThat(harness.auditRecords(ID))
                .last()
                .satisfies(entry -> assertThat(entry).containsEntry("outcome", "generation_conflict"));
        // Nothing was stored, so the same request may be decided anew; once applied, it is answered as ever.
        assertThat(harness.operations().pause(late.decidedOn(moved))).isInstanceOf(ActionOutcome.Applied.class);
        assertThat(harness.operations().pause(late.decidedOn(moved)))
                .isInstanceOfSatisfying(
                        ActionOutcome.Applied.class,
                        again -> assertThat(again.replayed()).isTrue());
    }

    @Test
    void a_row_in_a_state_that_is_not_known_here_makes_no_other_unreadable() { // ID-5, RM-2
        BackfillHarness harness = two();
        db.execute("ALTER TABLE backfill DROP CONSTRAINT backfill_state_is_known");
        db.execute("ALTER TABLE backfill DROP CONSTRAINT backfill_pending_iff_no_bound");
        db.execute("UPDATE backfill SET state = 'archived' WHERE id = '" + OTHER.value() + "'");
        Overview overview = harness.operations().list(BackfillHarness.OPERATOR);
        assertThat(overview.backfills())
                .singleElement()
                .satisfies(row -> assertThat(row.id()).isEqualTo(ID));
        assertThat(overview.unreadable()).singleElement().satisfies(row -> {
            assertThat(row.id()).isEqualTo(OTHER);
            assertThat(row.why()).contains("archived", OTHER.value());
        });
        assertThatThrownBy(() -> harness.operations().start(request(BackfillHarness.OPERATOR, OTHER)))
                .isInstanceOfSatisfying(
                        BackfillUnavailableException.class,
                        refused -> assertThat(refused.getMessage()).contains("archived"));
        assertThat(harness.start(ID)).isInstanceOf(ActionOutcome.Applied.class);
    }

    @Test
    void the_same_key_for_another_action_is_a_conflict() { // IK-3
        BackfillHarness harness = two();
        harness.operations().start(request(BackfillHarness.OPERATOR, ID));
        assertReused(harness.operations().pause(request(BackfillHarness.OPERATOR, ID)));
        assertThat(state()).isEqualTo(BackfillState.RUNNING);
    }

    @Test
    void the_same_key_for_another_backfill_is_a_conflict() { // IK-3
        BackfillHarness harness = two();
        harness.operations().start(request(BackfillHarness.OPERATOR, ID));
        assertReused(harness.operations().start(request(BackfillHarness.OPERATOR, OTHER)));
        assertThat(harness.state(OTHER)).isEqualTo(BackfillState.PENDING);
    }

    @Test
    void the_same_key_by_another_actor_is_a_conflict() { // IK-3
        BackfillHarness harness = two();
        harness.operations().start(request(BackfillHarness.OPERATOR, ID));
        assertReused(harness.operations().start(request(SECOND, ID)));
    }

    private static void assertReused(ActionOutcome outcome) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        ActionOutcome.Conflict.class,
                        conflict -> assertThat(conflict.code()).isEqualTo(ConflictCode.REQUEST_ID_REUSED));
    }

    @Test
    void an_answer_that_was_lost_after_commit_is_fetched_on_another_connection() { // IK-2
        BackfillHarness harness = open(counted());
        OperatorRequest start = request(BackfillHarness.OPERATOR, ID);
        faults.after(FaultPoint.commit(), Fault.cut());
        assertThat(harness.operations().start(start))
                .isInstanceOfSatisfying(
                        ActionOutcome.Applied.class,
                        answer -> assertThat(answer.replayed()).isTrue());
        faults.assertAllStruck();
        assertThat(generation()).isEqualTo(1);
    }

    @Test
    void a_control_whose_commit_never_arrived_is_carried_out_all_the_same() { // IK-2, AU-3
        BackfillHarness harness = open(counted());
        OperatorRequest start = request(BackfillHarness.OPERATOR, ID);
        faults.before(FaultPoint.commit(), Fault.cut());
        assertThat(harness.operations().start(start))
                .isInstanceOfSatisfying(
                        ActionOutcome.Applied.class,
                        answer -> assertThat(answer.replayed()).isFalse());
        faults.assertAllStruck();
        assertThat(harness.auditRecords(ID))
                .extracting(r -> r.get("action") + " " + r.get("outcome"))
                .containsExactly("start applied");
        assertThat(generation()).isEqualTo(1);
    }

    @Test
    void a_request_that_was_lost_before_commit_twice_left_nothing_and_may_come_again() { // IK-2, AU-3
        BackfillHarness harness = open(counted());
        OperatorRequest start = request(BackfillHarness.OPERATOR, ID);
        faults.before(FaultPoint.commit(), 2, Fault.cut());
        assertThatThrownBy(() -> harness.operations().start(start)).isInstanceOf(BackfillUnavailableException.class);
        assertThat(state()).isEqualTo(BackfillState.PENDING);
        assertThat(harness.auditRecords(ID)).isEmpty();
        assertThat(harness.operations().start(start))
                .isInstanceOfSatisfying(
                        ActionOutcome.Applied.class,
                        again -> assertThat(again.replayed()).isFalse());
    }

    @Test
    void copies_that_arrive_at_once_have_one_effect() throws Exception { // IK-2
        BackfillHarness harness = open(counted());
        List<ActionOutcome> answers =
                Race.of(6).run(number -> harness.operations().start(request(BackfillHarness.OPERATOR, ID)));
        assertThat(answers)
                .filteredOn(a -> a instanceof ActionOutcome.Applied applied && !applied.replayed())
                .hasSize(1);
        assertThat(generation()).isEqualTo(1);
        assertThat(db.queryLong("SELECT count(*) FROM backfill_request")).isOne();
    }

    @Test
    void operators_that_pause_at_once_pause_once() throws Exception { // IK-2, LC-4
        BackfillHarness harness = started();
        long before = generation();
        List<ActionOutcome> answers = Race.of(6).run(number -> harness.pause(ID));
        assertThat(answers).filteredOn(ActionOutcome.Applied.class::isInstance).hasSize(1);
        assertThat(answers)
                .filteredOn(ActionOutcome.Converged.class::isInstance)
                .hasSize(5);
        assertThat(generation()).isEqualTo(before + 1);
    }

    @ParameterizedTest
    @EnumSource(
            value = BackfillAction.class,
            names = {"PAUSE", "RESUME", "RETRY"})
    void every_transition_raises_the_generation(BackfillAction action) { // CL-1
        BackfillHarness harness = started();
        switch (action) {
            case RESUME -> harness.pause(ID);
            case RETRY -> db.update("UPDATE backfill SET state = 'failed'");
            default -> assertThat(state()).isEqualTo(BackfillState.RUNNING);
        }
        long before = generation();
        assertThat(harness.perform(action, ID)).isInstanceOf(ActionOutcome.Applied.class);
        assertThat(generation()).isEqualTo(before + 1);
    }

    @Test
    void no_action_moves_a_row_outside_the_table_of_transitions() { // LC-1, LC-2, LC-3, IK-4
        BackfillHarness harness = open(counted());
        harness.runToCompletion(ID);
        Map<String, String> completed = harness.row(ID);
        for (BackfillAction action : BackfillAction.values()) {
            if (action == BackfillAction.VALIDATE) {
                continue;
            }
            assertThat(harness.perform(action, ID)).isInstanceOfSatisfying(ActionOutcome.Conflict.class, conflict -> {
                assertThat(conflict.code()).isEqualTo(ConflictCode.ILLEGAL_TRANSITION);
                assertThat(conflict.now().state()).isEqualTo(BackfillState.COMPLETED);
            });
        }
        assertThat(harness.row(ID)).isEqualTo(completed);
    }

    @ParameterizedTest
    @EnumSource(
            value = BackfillState.class,
            names = {"BLOCKED", "FAILED", "PAUSED"})
    void a_row_without_admitted_work_goes_back_through_validation(BackfillState from) { // LC-2, VA-1
        BackfillHarness harness = started();
        db.update("UPDATE backfill SET state = ?, checkpoint = bound", from.wireName());
        harness.perform(from == BackfillState.PAUSED ? BackfillAction.RESUME : BackfillAction.RETRY, ID);
        assertThat(state()).isEqualTo(BackfillState.VALIDATING);
        assertThat(Set.of(column("checkpoint"))).containsExactly(column("bound"));
    }

    @Test
    void a_change_whose_audit_record_can_not_be_written_does_not_happen() { // AU-3
        AtomicBoolean broken = new AtomicBoolean(true);
        BackfillHarness harness = kept(BackfillHarness.over(db)
                .definitions(counted())
                .audit((transaction, entry) -> {
                    if (broken.get()) {
                        throw new IllegalStateException("the journal is full");
                    }
                })
                .open());
        OperatorRequest start = request(BackfillHarness.OPERATOR, ID);
        assertThatThrownBy(() -> harness.operations().start(start)).isInstanceOf(BackfillUnavailableException.class);
        assertThat(state()).isEqualTo(BackfillState.PENDING);
        broken.set(false);
        assertThat(harness.operations().start(start))
                .isInstanceOfSatisfying(
                        ActionOutcome.Applied.class,
                        again -> assertThat(again.replayed()).isFalse());
    }

    @Test
    void an_applied_change_is_on_record_with_everything_about_it() { // AU-3
        BackfillHarness harness = started();
        assertThat(harness.auditRecords(ID))
                .singleElement()
                .satisfies(entry -> assertThat(entry)
                        .containsEntry("actor", "test-operator")
                        .containsEntry("authority", "operator")
                        .containsEntry("action", "start")
                        .containsEntry("prior_state", "pending")
                        .containsEntry("resulting_state", "running")
                        .containsEntry("generation", "1")
                        .containsEntry("outcome", "applied"));
    }
}
