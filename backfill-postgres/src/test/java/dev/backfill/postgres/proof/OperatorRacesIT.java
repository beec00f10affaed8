package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.host.StepOutcome;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.FaultyConnections;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.Race;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Operators against operators, workers and lost answers: one winner, typed losers, generations that only rise, one bound. */
@PostgresTest
class OperatorRacesIT {

    private static final int ROUNDS = 12;

    private final TestDatabase db;

    OperatorRacesIT(TestDatabase db) {
        this.db = db;
    }

    private static boolean isFresh(ActionOutcome outcome) {
        return outcome instanceof ActionOutcome.Applied applied && !applied.replayed();
    }

    /** Busy is an honest answer on a slow machine, and the same request may be repeated. */
    private static ActionOutcome perform(BackfillHarness harness, BackfillAction action, String key) {
        for (int i = 0; ; i++) {
            try {
                return harness.perform(action, Counters.ID, key);
            } catch (BackfillUnavailableException busy) {
                if (i == 20) {
                    throw busy;
                }
            }
        }
    }

    private static ActionOutcome perform(BackfillHarness harness, BackfillAction action) {
        return perform(harness, action, BackfillHarness.newRequestId());
    }

    private long generation(BackfillHarness harness) {
        return Long.parseLong(harness.row(Counters.ID).get("generation"));
    }

    @Test
    void of_twenty_starts_one_captures_the_bound_and_the_others_converge() throws Exception { // SR-1, IK-2, CT 10
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.custom(4))) {
            List<ActionOutcome> outcomes = Race.of(20).run(number -> perform(harness, BackfillAction.START));
            assertThat(outcomes).filteredOn(OperatorRacesIT::isFresh).hasSize(1);
            assertThat(outcomes)
                    .filteredOn(ActionOutcome.Converged.class::isInstance)
                    .hasSize(19);
            assertThat(generation(harness)).isEqualTo(1);
            assertThat(db.queryLong(
                            "select count(*) from backfill_audit where action = 'start' and outcome = 'applied'"))
                    .isEqualTo(1);
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "VALIDATE")
    void of_twenty_copies_of_one_request_on_two_processes_one_acts_and_all_hear_the_same(BackfillAction action)
            throws Exception { // IK-2
        Counters.fresh(db, 10);
        try (BackfillHarness one = BackfillHarness.on(db, Counters.custom(4));
                BackfillHarness two = BackfillHarness.on(db, Counters.custom(4))) {
            Rows.put(db, action.appliesFrom().iterator().next());
            long before = generation(one);
            String key = BackfillHarness.newRequestId();
            List<ActionOutcome> outcomes = Race.of(20).run(number -> perform(number % 2 == 0 ? one : two, action, key));
            assertThat(outcomes).hasOnlyElementsOfType(ActionOutcome.Applied.class);
            assertThat(outcomes).filteredOn(OperatorRacesIT::isFresh).hasSize(1);
            assertThat(generation(one)).isEqualTo(before + 1);
        }
    }

    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "VALIDATE")
    void of_two_requests_for_the_same_one_applies_and_the_other_converges(BackfillAction action)
            throws Exception { // LC-4, IK-2
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.custom(4))) {
            Race.of(2).rounds(4, number -> perform(harness, action), new Race.Round<ActionOutcome>() {
                @Override
                public void before(int round) {
                    Rows.put(db, action.appliesFrom().iterator().next());
                }

                @Override
                public void after(int round, List<ActionOutcome> outcomes) {
                    assertThat(outcomes).filteredOn(OperatorRacesIT::isFresh).hasSize(1);
                    assertThat(outcomes)
                            .filteredOn(ActionOutcome.Converged.class::isInstance)
                            .hasSize(1);
                    assertThat(generation(harness)).isEqualTo(8);
                }
            });
        }
    }

    /** A pause against a worker's step, many times; after each round the row must agree with what both were told. */
    private void pauseAgainst(BackfillState state, Runnable arrange, RaceCheck check) throws Exception {
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.custom(4))) {
            HarnessWorker[] worker = new HarnessWorker[1];
            Race.of(2)
                    .<Object>rounds(
                            ROUNDS,
                            number -> number == 0 ? worker[0].step() : perform(harness, BackfillAction.PAUSE),
                            new Race.Round<>() {
                                @Override
                                public void before(int round) {
                                    db.execute("update counters set hits = case when id <= 4 then 1 else 0 end");
                                    Rows.put(db, state);
                                    arrange.run();
                                    worker[0] = harness.worker("w" + round);
                                }

                                @Override
                                public void after(int round, List<Object> results) {
                                    check.check(
                                            (StepOutcome) results.get(0),
                                            (ActionOutcome) results.get(1),
                                            harness.row(Counters.ID));
                                    worker[0].close();
                                }
                            });
        }
    }

    @FunctionalInterface
    private interface RaceCheck {
        void check(StepOutcome step, ActionOutcome pause, Map<String, String> row);
    }

    @Test
    void a_pause_against_a_commit_leaves_a_whole_batch_or_none() throws Exception { // LC-4, CL-2
        pauseAgainst(BackfillState.RUNNING, () -> {}, (step, pause, row) -> {
            assertThat(pause).isInstanceOf(ActionOutcome.Applied.class);
            boolean landed = step instanceof StepOutcome.Committed;
            assertThat(step)
                    .isInstanceOfAny(
                            StepOutcome.Committed.class, StepOutcome.Stopped.class, StepOutcome.NothingToDo.class);
            assertThat(Counters.hits(db)).isEqualTo(landed ? "1111111100" : "1111000000");
            assertThat(row).containsEntry("state", "paused").containsEntry("checkpoint", landed ? "{8}" : "{4}");
        });
    }

    @Test
    void a_pause_against_a_takeover_ends_paused_with_a_generation_above_both() throws Exception { // CL-1, LC-4
        pauseAgainst(
                BackfillState.RUNNING,
                () -> db.execute("update backfill set claim_token = '" + Rows.TOKEN + "', claim_owner = 'dead',"
                        + " claimed_at = now(), claim_expires_at = now() - interval '1 s', attempts = 1"),
                (step, pause, row) -> {
                    assertThat(pause).isInstanceOf(ActionOutcome.Applied.class);
                    assertThat(row).containsEntry("state", "paused").containsEntry("claim_token", null);
                    assertThat(Long.parseLong(row.get("generation")))
                            .isEqualTo(step instanceof StepOutcome.NothingToDo ? 8 : 9);
                });
    }

    @Test
    void a_pause_against_the_completion_has_one_winner() throws Exception { // VA-3, LC-3
        pauseAgainst(BackfillState.VALIDATING, () -> db.execute("update counters set hits = 1"), (step, pause, row) -> {
            boolean completed = step instanceof StepOutcome.Completed;
            assertThat(row.get("state")).isEqualTo(completed ? "completed" : "paused");
            assertThat(pause).isInstanceOf(completed ? ActionOutcome.Conflict.class : ActionOutcome.Applied.class);
        });
    }

    @Test
    void an_answer_lost_after_the_commit_is_found_by_repeating_the_request() { // IK-2, CT 10
        Counters.fresh(db, 10);
        FaultyConnections faults = FaultyConnections.over(db);
        try (BackfillHarness harness = BackfillHarness.over(db)
                .connections(faults)
                .definitions(Counters.custom(4))
                .open()) {
            String key = BackfillHarness.newRequestId();
            // Its own second try is lost as well.
            faults.after(FaultPoint.commit(), Fault.cut()).after(FaultPoint.commit(), Fault.cut());
            assertThatThrownBy(() -> harness.perform(BackfillAction.START, Counters.ID, key))
                    .isInstanceOfSatisfying(
                            BackfillUnavailableException.class,
                            it -> assertThat(it.reason()).isEqualTo(Reason.UNAVAILABLE));
            faults.assertAllStruck();
            db.execute("insert into counters (id) values (11)");
            assertThat(harness.perform(BackfillAction.START, Counters.ID, key))
                    .isInstanceOfSatisfying(
                            ActionOutcome.Applied.class,
                            it -> assertThat(it.replayed()).isTrue());
            assertThat(harness.row(Counters.ID)).containsEntry("bound", "{10}").containsEntry("generation", "1");
        }
    }

    @Test
    void a_request_that_never_arrived_is_carried_out_by_repeating_it() { // IK-2
        Counters.fresh(db, 10);
        FaultyConnections faults = FaultyConnections.over(db);
        try (BackfillHarness harness = BackfillHarness.over(db)
                .connections(faults)
                .definitions(Counters.custom(4))
                .open()) {
            String key = BackfillHarness.newRequestId();
            faults.before(FaultPoint.commit(), 2, Fault.cut());
            assertThatThrownBy(() -> harness.perform(BackfillAction.START, Counters.ID, key))
                    .isInstanceOf(BackfillUnavailableException.class);
            assertThat(harness.state(Counters.ID)).isEqualTo(BackfillState.PENDING);
            assertThat(harness.perform(BackfillAction.START, Counters.ID, key))
                    .isInstanceOfSatisfying(
                            ActionOutcome.Applied.class,
                            it -> assertThat(it.replayed()).isFalse());
            assertThat(harness.row(Counters.ID)).containsEntry("generation", "1");
        }
    }

    @Test
    void a_row_that_others_hold_locked_is_busy_and_nothing_is_stored() throws Exception { // BB-2, IK-2
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.over(db)
                        .definitions(Counters.custom(4))
                        .options(o -> o.operatorTimeout(Duration.ofSeconds(4)))
                        .open();
                Connection other = db.get()) {
            String key = BackfillHarness.newRequestId();
            other.setAutoCommit(false);
            try (Statement lock = other.createStatement()) {
                lock.execute("select 1 from backfill for update");
            }
            assertThatThrownBy(() -> harness.perform(BackfillAction.START, Counters.ID, key))
                    .isInstanceOfSatisfying(
                            BackfillUnavailableException.class,
                            it -> assertThat(it.reason()).isEqualTo(Reason.BUSY));
            other.rollback();
            assertThat(db.queryLong("select count(*) from backfill_request")).isZero();
            assertThat(isFresh(harness.perform(BackfillAction.START, Counters.ID, key)))
                    .isTrue();
        }
    }
}
