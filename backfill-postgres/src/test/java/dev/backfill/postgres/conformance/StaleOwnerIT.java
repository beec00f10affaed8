package dev.backfill.postgres.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Case 5: whoever is no longer the owner commits nothing. Each guard of the fence is broken alone, by one column that changes while a
 * batch is held right before its fence, with every other guard satisfied.
 */
class StaleOwnerIT extends Case {

    StaleOwnerIT(TestDatabase db) {
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

    private void assertRejected(boolean fused, String column, String value) throws Exception {
        BackfillHarness harness = started(fused);
        HeldStep second = HeldStep.beforeTheFence(faults, atWork(harness));
        harness.tamper(ID, column, value);
        assertThat(second.goOn()).isNotInstanceOf(StepOutcome.Committed.class);
        assertThat(hits()).as("rows of the first batch only").isEqualTo(BATCH);
        assertThat(column("batches")).isEqualTo("1");
    }

    @ParameterizedTest(name = "fused={0}")
    @ValueSource(booleans = {true, false})
    void a_batch_is_rejected_when_the_state_changed_under_it(boolean fused) throws Exception { // CL-2, LC-2
        assertRejected(fused, "state", "validating");
    }

    @ParameterizedTest(name = "fused={0}")
    @ValueSource(booleans = {true, false})
    void a_batch_is_rejected_when_the_generation_rose_under_it(boolean fused) throws Exception { // CL-1, CL-2
        BackfillHarness harness = started(fused);
        HeldStep second = HeldStep.beforeTheFence(faults, atWork(harness));
        harness.tamper(ID, "generation", Long.toString(generation() + 1));
        assertThat(second.goOn()).isEqualTo(new StepOutcome.Fenced(ID, "generation"));
        assertThat(hits()).isEqualTo(BATCH);
    }

    @ParameterizedTest(name = "fused={0}")
    @ValueSource(booleans = {true, false})
    void a_batch_is_rejected_when_another_acquisition_holds_the_claim(boolean fused) throws Exception { // CL-2
        assertRejected(fused, "claim_token", UUID.randomUUID().toString());
    }

    @ParameterizedTest(name = "fused={0}")
    @ValueSource(booleans = {true, false})
    void a_batch_is_rejected_when_its_lease_has_run_out(boolean fused) throws Exception { // CL-2, CL-4
        BackfillHarness harness = started(fused);
        HeldStep second = HeldStep.beforeTheFence(faults, atWork(harness));
        harness.expireLease(ID);
        assertThat(second.goOn()).isEqualTo(new StepOutcome.Fenced(ID, "lease"));
        assertThat(hits()).isEqualTo(BATCH);
    }

    @ParameterizedTest(name = "fused={0}")
    @ValueSource(booleans = {true, false})
    void a_batch_is_rejected_when_the_checkpoint_is_not_the_one_it_began_from(boolean fused)
            throws Exception { // CL-2, SR-3
        assertRejected(fused, "checkpoint", "{3}");
    }

    @ParameterizedTest(name = "fused={0}")
    @ValueSource(booleans = {true, false})
    void a_first_batch_is_rejected_when_there_is_a_checkpoint_already(boolean fused) throws Exception { // CL-2, SR-3
        BackfillHarness harness = started(fused);
        HeldStep first = HeldStep.beforeTheFence(faults, harness.worker("a"));
        harness.tamper(ID, "checkpoint", "{2}");
        assertThat(first.goOn()).isNotInstanceOf(StepOutcome.Committed.class);
        assertThat(hits()).isZero();
    }

    @ParameterizedTest(name = "fused={0}")
    @ValueSource(booleans = {true, false})
    void a_batch_is_rejected_when_its_window_passes_the_bound(boolean fused) throws Exception { // SR-3, CL-2
        BackfillHarness harness = started(fused);
        HeldStep second = HeldStep.beforeTheFence(faults, atWork(harness));
        harness.tamper(ID, "bound", "{7}");
        assertThat(second.goOn())
                .isInstanceOfSatisfying(
                        StepOutcome.Ended.class,
                        ended -> assertThat(ended.diagnostic().code())
                                .isEqualTo(DiagnosticCode.WINDOW_BEYOND_BOUND.wireName()));
        assertThat(hits()).isEqualTo(BATCH);
        assertThat(column("checkpoint")).isEqualTo("{5}");
    }

    @Test
    void a_transaction_that_was_ended_inside_is_seen_at_the_fence() throws Exception { // AT-2, RB-4
        AtomicReference<Connection> borrowed = new AtomicReference<>();
        BackfillDefinition<Long> escaping = items().repair((batch, tx) -> {
                    // Past the guard, as only a pool's own object could.
                    borrowed.get().commit();
                    // And goes on in a transaction of its own, so that only the fence can tell it from the batch's.
                    try (Statement statement = tx.connection().createStatement()) {
                        statement.execute("SELECT 1");
                    }
                    return 0;
                })
                .validate(Validation.noRowMatches("false"))
                .build();
        BackfillHarness harness = kept(BackfillHarness.over(db)
                .definitions(escaping)
                .connections(() -> {
                    borrowed.set(db.get());
                    return borrowed.get();
                })
                .open());
        harness.start(ID);
        assertThat(step(harness.worker("a")))
                .isInstanceOfSatisfying(
                        StepOutcome.Ended.class,
                        ended -> assertThat(ended.diagnostic().code())
                                .isEqualTo(DiagnosticCode.TRANSACTION_ENDED_INSIDE.wireName()));
        assertThat(state()).isEqualTo(BackfillState.BLOCKED);
        assertThat(column("checkpoint")).isNull();
    }

    @ParameterizedTest(name = "fused={0}")
    @ValueSource(booleans = {true, false})
    void a_lease_that_ends_while_the_fence_waits_for_the_row_is_seen(boolean fused) throws Exception { // CL-2
        BackfillHarness harness = kept(BackfillHarness.over(db)
                .definitions(counted())
                .connections(faults)
                .options(options -> options.fusedCommit(fused).lockTimeout(Duration.ofMillis(990)))
                .open());
        harness.start(ID);
        HarnessWorker worker = atWork(harness);
        HeldStep second = HeldStep.beforeTheFence(faults, worker);
        db.update("UPDATE backfill SET claim_expires_at = clock_timestamp() + interval '400 milliseconds'");
        StepOutcome outcome;
        try (Connection holder = db.get();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            // The row's lock without a new version: only the clock can tell that the lease is over.
            statement.execute("SELECT 1 FROM backfill FOR UPDATE");
            Future<StepOutcome> fencing = java.util.concurrent.CompletableFuture.supplyAsync(() -> {
                try {
                    return second.goOn();
                } catch (Exception e) {
                    throw new IllegalStateException(e);
                }
            });
            Eventually.until(
                    "the lease is over",
                    () -> db.queryBoolean("SELECT claim_expires_at < clock_timestamp() FROM backfill"));
            holder.commit();
            outcome = fencing.get(30, TimeUnit.SECONDS);
        }
        assertThat(outcome).isEqualTo(new StepOutcome.Fenced(ID, "lease"));
        assertThat(hits()).isEqualTo(BATCH);
    }

    @Test
    void a_pause_that_lands_during_a_batch_rolls_that_batch_back() throws Exception { // LC-4, CL-2
        BackfillHarness harness = started();
        HeldStep second = HeldStep.beforeTheFence(faults, atWork(harness));
        harness.pause(ID);
        assertThat(second.goOn()).isEqualTo(new StepOutcome.Stopped(ID, BackfillState.PAUSED));
        assertThat(hits()).isEqualTo(BATCH);
        assertThat(column("checkpoint")).isEqualTo("{5}");
        harness.resume(ID);
        harness.runToCompletion(ID);
        assertEachRowOnce();
    }

    @Test
    void an_owner_that_wakes_up_after_a_takeover_changes_nothing() throws Exception { // CL-5, CL-6
        BackfillHarness harness = started();
        HeldStep stale = HeldStep.after("begin", faults, atWork(harness));
        harness.expireLease(ID);
        harness.runToCompletion(ID);
        assertThat(stale.goOn()).isInstanceOf(StepOutcome.Stopped.class);
        assertEachRowOnce();
    }

    @Test
    void a_backfill_outlives_the_worker_that_vanishes_with_its_claim() { // CL-4, CL-5
        BackfillHarness harness = started();
        atWork(harness).vanish();
        HarnessWorker successor = harness.worker("b");
        assertThat(successor.step()).isInstanceOf(StepOutcome.NothingToDo.class);
        harness.expireLease(ID);
        assertThat(step(successor)).isInstanceOf(StepOutcome.Committed.class);
        assertThat(column("checkpoint")).isEqualTo("{10}");
        assertThat(column("bound")).isEqualTo("{20}");
    }
}
