package dev.backfill.postgres.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.Race;
import dev.backfill.testkit.TestDatabase;
import dev.backfill.testkit.WarmConnections;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;

/** Case 1: there is at most one claim, and each acquisition is told from all others. */
class ClaimRaceIT extends Case {

    private static final int CONTENDERS = 6;
    private static final int ROUNDS = 25;

    ClaimRaceIT(TestDatabase db) {
        super(db);
    }

    @Test
    void of_many_contenders_one_gets_the_claim_in_every_round() throws Exception { // CL-1
        db.execute("INSERT INTO items SELECT generate_series(1000, 1000 + ?)", ROUNDS * BATCH);
        try (WarmConnections warm = new WarmConnections(db, CONTENDERS + 1)) {
            BackfillHarness harness = kept(BackfillHarness.over(db)
                    .definitions(counted())
                    .connections(warm)
                    .open());
            harness.start(ID);
            step(harness.worker("first"));
            List<HarnessWorker> workers = new ArrayList<>();
            Set<String> generations = new HashSet<>();
            Race.of(CONTENDERS).rounds(ROUNDS, number -> workers.get(number).step(), new Race.Round<StepOutcome>() {
                @Override
                public void before(int round) {
                    harness.expireLease(ID);
                    workers.clear();
                    for (int i = 0; i < CONTENDERS; i++) {
                        workers.add(harness.worker("contender-" + i));
                    }
                }

                @Override
                public void after(int round, List<StepOutcome> results) {
                    assertThat(results)
                            .filteredOn(StepOutcome.Committed.class::isInstance)
                            .hasSize(1);
                    assertThat(results)
                            .filteredOn(StepOutcome.NothingToDo.class::isInstance)
                            .hasSize(CONTENDERS - 1);
                    assertThat(generations.add(column("generation")))
                            .as("a generation of its own")
                            .isTrue();
                }
            });
            assertThat(db.queryLong("SELECT max(hits) FROM items")).isOne();
            workers.forEach(HarnessWorker::close);
            harness.close();
        }
    }

    @Test
    void a_claim_under_way_is_not_stolen_by_one_that_looked_at_the_same_moment() throws Exception { // CL-1
        BackfillHarness harness = started();
        HeldStep first = HeldStep.after("claim", faults, harness.worker("a"));
        Future<StepOutcome> second = harness.worker("b").stepAside();
        Eventually.until("the second contender gave up, or waits for the row", () -> second.isDone() || isWaiting());
        StepOutcome one = first.goOn();
        StepOutcome other = second.get(30, TimeUnit.SECONDS);
        assertThat(one).isNotInstanceOf(StepOutcome.Fenced.class).isNotInstanceOf(StepOutcome.NothingToDo.class);
        assertThat(other).isInstanceOf(StepOutcome.NothingToDo.class);
        assertThat(column("generation")).isEqualTo("2");
    }

    private boolean isWaiting() {
        return db.queryBoolean("SELECT exists (SELECT FROM pg_stat_activity WHERE datname = current_database()"
                + " AND wait_event_type = 'Lock')");
    }

    @Test
    void a_claim_that_holds_is_nobody_elses() { // CL-1, CL-4
        BackfillHarness harness = started();
        atWork(harness);
        assertThat(harness.worker("b").step()).isInstanceOf(StepOutcome.NothingToDo.class);
        assertThat(column("claim_owner")).contains("a");
    }

    @Test
    void a_retry_delay_keeps_everybody_from_claiming() { // RB-2
        BackfillHarness harness = started();
        db.update("UPDATE backfill SET next_attempt_at = clock_timestamp() + interval '1 hour'");
        assertThat(harness.worker("a").step()).isInstanceOf(StepOutcome.NothingToDo.class);
        harness.clearRetryDelay(ID);
        assertThat(step(harness.worker("a"))).isInstanceOf(StepOutcome.Committed.class);
    }

    @Test
    void a_paused_row_is_open_to_nobody() { // LC-4
        BackfillHarness harness = started();
        harness.pause(ID);
        assertThat(harness.worker("a").step()).isInstanceOf(StepOutcome.NothingToDo.class);
    }

    @Test
    void a_row_of_a_newer_format_is_left_alone_even_when_it_was_looked_at_before() throws Exception { // ID-5
        BackfillHarness harness = started();
        HeldStep held = HeldStep.before("claim", faults, harness.worker("a"));
        harness.tamper(ID, "contract", "3");
        assertThat(held.goOn()).isInstanceOf(StepOutcome.NothingToDo.class);
        assertThat(column("claim_token")).isNull();
    }

    @Test
    void a_row_whose_attempts_are_used_up_is_not_claimed_even_when_it_was_looked_at_before() throws Exception { // RB-5
        BackfillHarness harness = started();
        HeldStep held = HeldStep.before("claim", faults, harness.worker("a"));
        harness.tamper(ID, "attempts", "10");
        assertThat(held.goOn()).isInstanceOf(StepOutcome.NothingToDo.class);
        assertThat(column("claim_token")).isNull();
    }

    @Test
    void every_acquisition_raises_the_generation_and_has_a_token_of_its_own() { // CL-1
        BackfillHarness harness = started();
        long before = generation();
        harness.worker("a").step();
        String token = column("claim_token");
        assertThat(generation()).isEqualTo(before + 1);
        harness.expireLease(ID);
        harness.worker("b").step();
        assertThat(generation()).isEqualTo(before + 2);
        assertThat(column("claim_token")).isNotEqualTo(token);
    }

    @Test
    void owners_that_die_again_and_again_lead_to_failed_and_not_through_the_fleet() { // RB-5
        BackfillHarness harness = started();
        for (int i = 1; i <= 10; i++) {
            // Held after the claim and never let go on: a worker that dies before it did anything.
            HeldStep.after("begin", faults, harness.worker("doomed-" + i));
            assertThat(column("attempts")).isEqualTo(Integer.toString(i));
            harness.expireLease(ID);
        }
        harness.worker("last").step();
        assertThat(state()).isEqualTo(BackfillState.FAILED);
        assertThat(column("failure_code")).isEqualTo(DiagnosticCode.OWNER_LOST_REPEATEDLY.wireName());
    }
}
