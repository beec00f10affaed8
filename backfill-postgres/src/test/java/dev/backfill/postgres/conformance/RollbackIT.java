package dev.backfill.postgres.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.TestDatabase;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Cases 3 and 4: a failure at any point leaves mutation and checkpoint together or neither, and the next owner goes on from there. */
class RollbackIT extends Case {

    RollbackIT(TestDatabase db) {
        super(db);
    }

    private BackfillHarness started(boolean fused) {
        BackfillHarness harness = kept(BackfillHarness.over(db)
                .definitions(counted())
                .connections(faults)
                .options(options -> options.fusedCommit(fused))
                .open());
        harness.start(ID);
        return harness;
    }

    private void assertTogether() {
        String checkpoint = column("checkpoint");
        long repaired = checkpoint == null ? 0 : Long.parseLong(checkpoint.replaceAll("[{}]", ""));
        assertThat(db.queryLong("SELECT count(*) FROM items WHERE hits = 1 AND id <= ?", repaired))
                .isEqualTo(repaired);
        assertThat(hits()).isEqualTo(repaired);
    }

    @ParameterizedTest(name = "before {0}, fused={1}")
    @CsvSource({
        "begin, true",
        "repair, true",
        "lock, true",
        "fence, true",
        "begin, false",
        "repair, false",
        "lock, false",
        "fence, false"
    })
    void a_connection_lost_before_a_statement_leaves_neither(String tag, boolean fused) { // AT-1
        BackfillHarness harness = started(fused);
        HarnessWorker worker = atWork(harness);
        faults.before(FaultPoint.tagged(tag), Fault.cut());
        assertThat(worker.step()).isNotInstanceOf(StepOutcome.Committed.class);
        assertThat(column("checkpoint")).isEqualTo("{5}");
        assertTogether();
        faults.assertAllStruck();
        harness.clearRetryDelay(ID);
        worker.close();
        harness.runToCompletion(ID);
        assertEachRowOnce();
    }

    @Test
    void a_mutation_never_outlives_the_rollback_of_its_batch() { // AT-1
        BackfillHarness harness = started(true);
        HarnessWorker worker = atWork(harness);
        faults.before(FaultPoint.tagged("fence"), Fault.fail("40001"));
        worker.step();
        assertThat(hits()).isEqualTo(BATCH);
    }

    @ParameterizedTest(name = "{0}")
    @ValueSource(strings = {"40001", "40P01", "55P03", "57P01", "53300", "08006", "57014"})
    void a_transient_error_of_the_repair_is_retried_and_costs_no_attempt(String sqlState) { // RB-3, RB-5
        BackfillHarness harness = started(true);
        faults.before(FaultPoint.tagged("repair"), Fault.fail(sqlState));
        assertThat(step(harness.worker("a"))).isInstanceOf(StepOutcome.Retrying.class);
        assertThat(column("attempts")).isEqualTo("0");
        assertThat(column("claim_token")).isNull();
        assertThat(db.queryBoolean("SELECT next_attempt_at IS NOT NULL FROM backfill"))
                .isTrue();
        assertTogether();
        harness.clearRetryDelay(ID);
        harness.runToCompletion(ID);
        assertEachRowOnce();
    }

    @ParameterizedTest(name = "fused={0}")
    @ValueSource(booleans = {true, false})
    void a_lost_answer_to_commit_is_settled_by_the_row_and_replays_nothing(boolean fused) { // AT-3, RB-3
        BackfillHarness harness = started(fused);
        HarnessWorker worker = atWork(harness);
        faults.after(FaultPoint.commit(), Fault.cut());
        StepOutcome outcome = worker.step();
        faults.assertAllStruck();
        assertThat(outcome).isInstanceOf(StepOutcome.Committed.class);
        assertThat(column("checkpoint")).isEqualTo("{10}");
        assertTogether();
        worker.close();
        harness.runToCompletion(ID);
        assertEachRowOnce();
    }

    @Test
    void a_crash_after_commit_is_no_reason_to_repair_again() { // CL-5
        BackfillHarness harness = started(true);
        HarnessWorker worker = atWork(harness);
        worker.step();
        worker.vanish();
        harness.expireLease(ID);
        harness.runToCompletion(ID);
        assertEachRowOnce();
    }

    @Test
    void a_crash_during_validation_lets_the_next_owner_validate_again() throws Exception { // VA-2
        BackfillHarness harness = started(true);
        HarnessWorker worker = harness.worker("a");
        for (int i = 0; i < ROWS / BATCH; i++) {
            step(worker);
        }
        while (state() == dev.backfill.operate.BackfillState.RUNNING) {
            worker.step();
        }
        faults.after(FaultPoint.tagged("validate"), Fault.cut());
        assertThat(worker.step()).isNotInstanceOf(StepOutcome.Completed.class);
        harness.clearRetryDelay(ID);
        worker.vanish();
        if (column("claim_token") != null) {
            harness.expireLease(ID);
        }
        harness.runToCompletion(ID);
        assertEachRowOnce();
    }

    @Test
    void a_statement_that_takes_too_long_is_stopped_by_the_server_and_rolled_back() { // BB-2, BB-4
        BackfillDefinition<Long> slow = items().repair((batch, tx) -> {
                    try (Statement statement = tx.connection().createStatement()) {
                        statement.execute("UPDATE items SET hits = hits + 1");
                        statement.execute("SELECT pg_sleep(60)");
                    }
                    return 0;
                })
                .validate(Validation.noRowMatches("false"))
                .build();
        BackfillHarness harness = kept(BackfillHarness.over(db)
                .definitions(slow)
                .options(options -> options.statementTimeout(Duration.ofMillis(300)))
                .open());
        harness.start(ID);
        assertThat(step(harness.worker("a"))).isInstanceOf(StepOutcome.Retrying.class);
        assertThat(hits()).isZero();
        assertThat(column("checkpoint")).isNull();
    }

    @Test
    void a_batch_gives_up_on_a_locked_row_before_anybody_else_does() throws Exception { // BB-2, RB-3
        BackfillHarness harness = started(true);
        HarnessWorker worker = atWork(harness);
        try (var writer = db.get();
                Statement statement = writer.createStatement()) {
            writer.setAutoCommit(false);
            statement.execute("SELECT 1 FROM items WHERE id = 7 FOR UPDATE");
            assertThat(worker.step())
                    .isInstanceOfSatisfying(
                            StepOutcome.Retrying.class,
                            retrying ->
                                    assertThat(retrying.diagnostic().sqlState()).isEqualTo("55P03"));
            writer.rollback();
        }
        harness.clearRetryDelay(ID);
        harness.runToCompletion(ID);
        assertEachRowOnce();
    }
}
