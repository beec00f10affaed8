package dev.backfill.postgres.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.RetryableException;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Case 5, the rest of an owner's records: a stale owner completes nothing, renews nothing, releases nothing, records no failure and
 * takes no claim anew. One column changes while each statement is held.
 */
class StaleRecordsIT extends Case {

    StaleRecordsIT(TestDatabase db) {
        super(db);
    }

    /** A worker whose validation held, and whose completion is not yet sent. */
    private HeldStep completing(BackfillHarness harness) {
        HarnessWorker worker = harness.worker("a");
        for (int i = 0; i < ROWS / BATCH + 1; i++) {
            step(worker);
            if (state() == BackfillState.VALIDATING) {
                break;
            }
        }
        assertThat(state()).isEqualTo(BackfillState.VALIDATING);
        return HeldStep.beforeTheFence(faults, worker);
    }

    private void assertNotCompleted(String column, String value) throws Exception {
        BackfillHarness harness = started();
        HeldStep completion = completing(harness);
        harness.tamper(ID, column, value);
        assertThat(completion.goOn()).isNotInstanceOf(StepOutcome.Completed.class);
        assertThat(state()).isNotEqualTo(BackfillState.COMPLETED);
    }

    @Test
    void a_completion_is_rejected_when_the_generation_rose_under_it() throws Exception { // VA-3
        BackfillHarness harness = started();
        HeldStep completion = completing(harness);
        harness.tamper(ID, "generation", Long.toString(generation() + 1));
        assertThat(completion.goOn()).isNotInstanceOf(StepOutcome.Completed.class);
        assertThat(state()).isEqualTo(BackfillState.VALIDATING);
    }

    @Test
    void a_completion_is_rejected_when_another_acquisition_holds_the_claim() throws Exception { // VA-3
        assertNotCompleted("claim_token", UUID.randomUUID().toString());
    }

    @Test
    void a_completion_is_rejected_when_its_lease_has_run_out() throws Exception { // VA-3, CL-4
        BackfillHarness harness = started();
        HeldStep completion = completing(harness);
        harness.expireLease(ID);
        assertThat(completion.goOn()).isNotInstanceOf(StepOutcome.Completed.class);
        assertThat(state()).isEqualTo(BackfillState.VALIDATING);
    }

    @Test
    void a_completion_is_rejected_when_the_state_changed_under_it() throws Exception { // VA-3, LC-2
        assertNotCompleted("state", "running");
    }

    @Test
    void a_completion_is_rejected_when_admitted_work_remains() throws Exception { // VA-1, VA-3
        assertNotCompleted("checkpoint", "{19}");
    }

    private static BackfillDefinition<Long> failing() {
        return items().repair((batch, tx) -> {
                    throw new RetryableException("not now");
                })
                .validate(Validation.noRowMatches("false"))
                .build();
    }

    /** A worker whose batch failed, and whose record of that is not yet sent. */
    private void assertNothingRecorded(String column, String value) throws Exception {
        BackfillHarness harness = open(failing());
        harness.start(ID);
        HeldStep failure = HeldStep.beforeTheFence(faults, harness.worker("a"));
        harness.tamper(ID, column, value);
        failure.goOn();
        assertThat(column("failure_code")).isNull();
        assertThat(column("next_attempt_at")).isNull();
    }

    @Test
    void a_failure_is_not_recorded_when_the_generation_rose_under_it() throws Exception { // RB-1, CL-2
        assertNothingRecorded("generation", "77");
    }

    @Test
    void a_failure_is_not_recorded_when_another_acquisition_holds_the_claim() throws Exception { // RB-1, CL-2
        assertNothingRecorded("claim_token", UUID.randomUUID().toString());
    }

    @Test
    void a_failure_is_not_recorded_when_the_lease_has_run_out() throws Exception { // RB-1, CL-4
        assertNothingRecorded("claim_expires_at", "2020-01-01 00:00:00Z");
    }

    /** A worker that waits for the start barrier renews its claim each time it looks. */
    private void assertNotRenewed(String column, String value) throws Exception {
        BackfillHarness harness = open(counted());
        try (Connection writer = db.get();
                Statement statement = writer.createStatement()) {
            writer.setAutoCommit(false);
            statement.execute("UPDATE items SET hits = hits WHERE id = 1");
            harness.start(ID);
            HeldStep renewal = HeldStep.beforeTheFence(faults, harness.worker("a"));
            harness.tamper(ID, column, value);
            String expiry = column("claim_expires_at");
            StepOutcome outcome = renewal.goOn();
            assertThat(column("claim_expires_at")).isEqualTo(expiry);
            assertThat(outcome).isInstanceOf(StepOutcome.Fenced.class);
            writer.rollback();
        }
    }

    @Test
    void a_claim_is_not_renewed_when_the_generation_rose_under_it() throws Exception { // CL-1
        assertNotRenewed("generation", "77");
    }

    @Test
    void a_claim_is_not_renewed_by_another_acquisition() throws Exception { // CL-1
        assertNotRenewed("claim_token", UUID.randomUUID().toString());
    }

    @Test
    void a_claim_is_not_renewed_after_its_lease_has_run_out() throws Exception { // CL-4
        assertNotRenewed("claim_expires_at", "2020-01-01 00:00:00Z");
    }

    @ParameterizedTest
    @CsvSource({"claim_token, 00000000-0000-0000-0000-000000000001", "generation, 77"})
    void a_claim_is_not_released_by_somebody_else(String column, String value) { // CL-1, CL-5
        BackfillHarness harness = started();
        HarnessWorker worker = atWork(harness);
        harness.tamper(ID, column, value);
        worker.close();
        assertThat(column("claim_token")).isNotNull();
    }

    @Test
    void an_orderly_release_gives_the_claim_and_its_attempt_back() { // RB-5, CL-5
        BackfillHarness harness = started();
        HarnessWorker worker = harness.worker("a");
        faults.before(FaultPoint.tagged("repair"), Fault.fail("40001"));
        Eventually.until("the barrier is passed", () -> !(worker.step() instanceof StepOutcome.Waits));
        harness.clearRetryDelay(ID);
        HarnessWorker second = atWork(harness);
        assertThat(column("attempts")).isEqualTo("0");
        second.close();
        assertThat(column("claim_token")).isNull();
        assertThat(column("attempts")).isEqualTo("0");
    }

    @ParameterizedTest
    @CsvSource({"claim_token, 00000000-0000-0000-0000-000000000001", "generation, 77"})
    void an_unknown_commit_is_not_settled_by_an_owner_that_was_superseded(String column, String value)
            throws Exception { // AT-3, CL-1
        BackfillHarness harness = started();
        HarnessWorker worker = atWork(harness);
        faults.after(FaultPoint.tagged("fence"), Fault.cut());
        HeldStep settling = HeldStep.before("reclaim", faults, worker);
        harness.tamper(ID, column, value);
        String token = column("claim_token");
        assertThat(settling.goOn()).isNotInstanceOf(StepOutcome.Committed.class);
        assertThat(column("claim_token")).isEqualTo(token);
        assertThat(hits()).as("the commit had landed").isEqualTo(2 * BATCH);
    }
}
