package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Holds a batch inside its repair, changes exactly one thing that the fence asks for, and lets it go: nothing may be committed. Each
 * guard in both forms of the fence.
 */
@PostgresTest
class FenceGuardsIT {

    private final TestDatabase db;

    FenceGuardsIT(TestDatabase db) {
        this.db = db;
    }

    /** Ten rows, batches of four; the second batch is the one that is held. */
    private StepOutcome secondBatch(boolean fused, Consumer<BackfillHarness> meanwhile) throws Exception {
        return batch(fused, 1, meanwhile);
    }

    private StepOutcome batch(boolean fused, int committedBefore, Consumer<BackfillHarness> meanwhile)
            throws Exception {
        Counters.fresh(db, 10);
        Gate gate = new Gate();
        long holdAt = 1 + 4L * committedBefore;
        AtomicBoolean first = new AtomicBoolean(true);
        var definition = Counters.custom(4, (batch, tx) -> {
            if (batch.keys().get(0) == holdAt && first.getAndSet(false)) {
                gate.hold();
            }
            return 0;
        });
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(definition)
                .options(o -> o.fusedCommit(fused))
                .open()) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            for (int i = 0; i < committedBefore; i++) {
                assertThat(worker.step()).isInstanceOf(StepOutcome.Committed.class);
            }
            String hitsBefore = Counters.hits(db);
            Future<StepOutcome> held = worker.stepAside();
            gate.awaitArrival();
            meanwhile.accept(harness);
            Map<String, String> row = harness.row(Counters.ID);
            gate.open();
            StepOutcome outcome = held.get(60, TimeUnit.SECONDS);
            assertThat(Counters.hits(db)).isEqualTo(hitsBefore);
            for (String column : new String[] {"checkpoint", "bound", "batches", "rows_scanned", "completed_at"}) {
                assertThat(harness.row(Counters.ID).get(column)).as(column).isEqualTo(row.get(column));
            }
            if (outcome.equals(new StepOutcome.Fenced(Counters.ID, "checkpoint"))) {
                // Its own row, set back: given up, so that nobody waits for its lease.
                assertThat(harness.row(Counters.ID)).containsEntry("claim_token", null);
            } else if (!(outcome instanceof StepOutcome.Ended)) {
                assertThat(harness.row(Counters.ID)).isEqualTo(row);
            }
            return outcome;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void an_untouched_batch_commits_so_that_the_others_prove_something(boolean fused) throws Exception { // AT-1
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Counters.custom(4))
                .options(o -> o.fusedCommit(fused))
                .open()) {
            harness.start(Counters.ID);
            assertThat(harness.worker("a").step()).isEqualTo(new StepOutcome.Committed(Counters.ID, 4, 4, false));
            assertThat(Counters.hits(db)).isEqualTo("1111000000");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_state_that_is_not_running_rejects_the_batch(boolean fused) throws Exception { // CL-2
        // The claim stays as it is, which no operator could do: only the state is wrong.
        StepOutcome outcome = secondBatch(fused, h -> h.tamper(Counters.ID, "state", "validating"));
        assertThat(outcome).isEqualTo(new StepOutcome.Stopped(Counters.ID, BackfillState.VALIDATING));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_pause_that_lands_during_a_batch_rolls_that_batch_back(boolean fused) throws Exception { // LC-4, CL-2
        StepOutcome outcome = secondBatch(fused, h -> h.pause(Counters.ID));
        assertThat(outcome).isEqualTo(new StepOutcome.Stopped(Counters.ID, BackfillState.PAUSED));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void another_generation_rejects_the_batch(boolean fused) throws Exception { // CL-2
        StepOutcome outcome = secondBatch(
                fused,
                h -> h.tamper(
                        Counters.ID,
                        "generation",
                        String.valueOf(Long.parseLong(h.row(Counters.ID).get("generation")) + 1)));
        assertThat(outcome).isEqualTo(new StepOutcome.Fenced(Counters.ID, "generation"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void another_claim_token_under_the_same_generation_rejects_the_batch(boolean fused) throws Exception { // CL-2
        StepOutcome outcome = secondBatch(
                fused,
                h -> h.tamper(Counters.ID, "claim_token", UUID.randomUUID().toString()));
        assertThat(outcome).isEqualTo(new StepOutcome.Fenced(Counters.ID, "token"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_lease_that_ran_out_during_the_batch_rejects_it(boolean fused) throws Exception { // CL-2, CL-6
        StepOutcome outcome = secondBatch(fused, h -> h.expireLease(Counters.ID));
        assertThat(outcome).isEqualTo(new StepOutcome.Fenced(Counters.ID, "lease"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_takeover_during_a_batch_rejects_it_and_the_new_owner_repairs_the_window_once(boolean fused)
            throws Exception { // CL-1, CL-6
        Counters.fresh(db, 10);
        Gate gate = new Gate();
        AtomicBoolean first = new AtomicBoolean(true);
        var definition = Counters.custom(4, (batch, tx) -> {
            if (first.getAndSet(false)) {
                gate.hold();
            }
            return 0;
        });
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(definition)
                .options(o -> o.fusedCommit(fused))
                .open()) {
            harness.start(Counters.ID);
            Future<StepOutcome> held = harness.worker("a").stepAside();
            gate.awaitArrival();
            harness.expireLease(Counters.ID);
            assertThat(harness.worker("b").step()).isInstanceOf(StepOutcome.Committed.class);
            gate.open();
            assertThat(held.get(60, TimeUnit.SECONDS)).isEqualTo(new StepOutcome.Fenced(Counters.ID, "generation"));
            assertThat(Counters.hits(db)).isEqualTo("1111000000");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_checkpoint_that_went_back_behind_this_batch_rejects_it(boolean fused) throws Exception { // CL-2
        // As after a failover that kept the claim and lost the last batch: the rows between would be skipped.
        StepOutcome outcome = secondBatch(fused, h -> h.tamper(Counters.ID, "checkpoint", "{3}"));
        assertThat(outcome).isEqualTo(new StepOutcome.Fenced(Counters.ID, "checkpoint"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_checkpoint_that_appeared_before_the_first_batch_rejects_it(boolean fused) throws Exception { // CL-2, SR-3
        StepOutcome outcome = batch(fused, 0, h -> h.tamper(Counters.ID, "checkpoint", "{1}"));
        assertThat(outcome).isEqualTo(new StepOutcome.Fenced(Counters.ID, "checkpoint"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_window_past_the_bound_is_rejected_and_blocked(boolean fused) throws Exception { // SR-3, RB-4
        StepOutcome outcome = secondBatch(fused, h -> h.tamper(Counters.ID, "bound", "{7}"));
        assertThat(outcome).isInstanceOfSatisfying(StepOutcome.Ended.class, ended -> {
            assertThat(ended.state()).isEqualTo(BackfillState.BLOCKED);
            assertThat(ended.diagnostic().code()).isEqualTo(DiagnosticCode.WINDOW_BEYOND_BOUND.wireName());
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_first_window_past_the_bound_is_rejected_and_blocked(boolean fused) throws Exception { // SR-3, RB-4
        StepOutcome outcome = batch(fused, 0, h -> h.tamper(Counters.ID, "bound", "{3}"));
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        StepOutcome.Ended.class,
                        ended -> assertThat(ended.diagnostic().code())
                                .isEqualTo(DiagnosticCode.WINDOW_BEYOND_BOUND.wireName()));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_transaction_that_was_replaced_inside_the_repair_is_rejected_and_blocked(boolean fused)
            throws Exception { // AT-2
        Counters.fresh(db, 10);
        AtomicReference<Connection> borrowed = new AtomicReference<>();
        var definition = Counters.custom(4, (batch, tx) -> {
            // Around the guarded connection, as only the pool's own could: the fence is what is left.
            try (Statement real = borrowed.get().createStatement()) {
                real.execute("commit; begin");
            }
            return 0;
        });
        try (BackfillHarness harness = BackfillHarness.over(db)
                .connections(() -> {
                    borrowed.set(db.get());
                    return borrowed.get();
                })
                .definitions(definition)
                .options(o -> o.fusedCommit(fused))
                .open()) {
            harness.start(Counters.ID);
            assertThat(harness.worker("a").step()).isInstanceOfSatisfying(StepOutcome.Ended.class, ended -> {
                assertThat(ended.state()).isEqualTo(BackfillState.BLOCKED);
                assertThat(ended.diagnostic().code()).isEqualTo(DiagnosticCode.TRANSACTION_ENDED_INSIDE.wireName());
            });
            assertThat(Counters.hits(db)).isEqualTo("0000000000");
            assertThat(harness.row(Counters.ID).get("checkpoint")).isNull();
        }
    }
}
