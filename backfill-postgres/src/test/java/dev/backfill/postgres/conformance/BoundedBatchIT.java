package dev.backfill.postgres.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Case 2: a batch is bounded by the keys it scans, and the source by the bound that start captured. */
class BoundedBatchIT extends Case {

    BoundedBatchIT(TestDatabase db) {
        super(db);
    }

    @Test
    void a_set_repair_scans_no_more_keys_than_declared() { // BB-1
        BackfillHarness harness = started();
        HarnessWorker worker = harness.worker("a");
        assertThat(step(worker)).isEqualTo(new StepOutcome.Committed(ID, BATCH, BATCH, false));
        assertThat(db.queryLong("SELECT max(id) FROM items WHERE hits = 1")).isEqualTo(BATCH);
    }

    @Test
    void a_custom_repair_is_handed_no_more_keys_than_declared_and_each_key_once() { // BB-1, SR-3
        List<Long> seen = Collections.synchronizedList(new ArrayList<>());
        List<Integer> sizes = Collections.synchronizedList(new ArrayList<>());
        BackfillDefinition<Long> definition = items().repair((batch, tx) -> {
                    sizes.add(batch.size());
                    seen.addAll(batch.keys());
                    return 0;
                })
                .validate(Validation.noRowMatches("false"))
                .build();
        BackfillHarness harness = open(definition);
        harness.runToCompletion(ID);
        assertThat(sizes).allMatch(size -> size <= BATCH);
        assertThat(seen).hasSize(ROWS).isSorted().doesNotHaveDuplicates();
    }

    @Test
    void a_window_counts_keys_and_not_matches_so_that_a_sparse_condition_stays_bounded() { // SR-7
        BackfillDefinition<Long> sparse = items().repair(
                        Repair.update().set("hits", "hits + 1").where("id = 20"))
                .validate(Validation.noRowMatches("id = 20 AND hits <> 1"))
                .build();
        BackfillHarness harness = open(sparse);
        harness.start(ID);
        assertThat(step(harness.worker("a"))).isEqualTo(new StepOutcome.Committed(ID, BATCH, 0, false));
        assertThat(column("checkpoint")).isEqualTo("{5}");
    }

    @Test
    void rows_beyond_the_bound_are_nobodys_business() { // SR-1, SR-5
        // Twenty is no multiple of seven: the last window would hold keys beyond the bound if there were no other end.
        BackfillHarness harness = open(items().batchSize(7)
                .repair(Repair.update().set("hits", "hits + 1"))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build());
        harness.start(ID);
        db.execute("INSERT INTO items SELECT generate_series(21, 40)");
        harness.runToCompletion(ID);
        assertThat(db.queryLong("SELECT sum(hits) FROM items WHERE id > 20")).isZero();
        assertThat(db.queryLong("SELECT sum(hits) FROM items WHERE id <= 20")).isEqualTo(ROWS);
        assertThat(column("bound")).isEqualTo("{20}");
    }

    @Test
    void a_bound_that_no_row_has_any_more_still_ends_the_source() { // SR-1, SR-7
        BackfillHarness harness = started();
        db.execute("DELETE FROM items WHERE id > 12");
        harness.runToCompletion(ID);
        assertThat(column("checkpoint")).isEqualTo("{20}");
        assertThat(state()).isEqualTo(BackfillState.COMPLETED);
    }

    @Test
    void an_empty_source_completes_with_an_explicit_bound_and_no_sentinel() { // LC-5
        db.execute("DELETE FROM items");
        BackfillHarness harness = open(counted());
        harness.runToCompletion(ID);
        assertThat(column("bound_empty")).isEqualTo("true");
        assertThat(column("bound")).isNull();
        assertThat(column("checkpoint")).isNull();
    }

    @Test
    void an_empty_source_passes_through_validating() { // LC-5, VA-1
        db.execute("DELETE FROM items");
        BackfillHarness harness = open(counted());
        harness.start(ID);
        step(harness.worker("a"));
        assertThat(state()).isEqualTo(BackfillState.VALIDATING);
    }

    @Test
    void a_writer_that_was_open_at_the_start_is_waited_for() throws Exception { // SR-6
        BackfillHarness harness = open(counted());
        try (var writer = db.get();
                var statement = writer.createStatement()) {
            writer.setAutoCommit(false);
            statement.execute("INSERT INTO items VALUES (0)");
            harness.start(ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(StepOutcome.Waits.class);
            assertThat(column("wait_reason")).isEqualTo("start_barrier");
            assertThat(column("batches")).isEqualTo("0");
            writer.commit();
            worker.close();
        }
        harness.runToCompletion(ID);
        assertThat(db.queryLong("SELECT hits FROM items WHERE id = 0")).isOne();
    }

    @Test
    void a_writer_that_holds_the_table_is_waited_for_and_is_no_contention() throws Exception { // SR-6
        BackfillHarness harness = open(counted());
        try (var writer = db.get();
                var statement = writer.createStatement()) {
            writer.setAutoCommit(false);
            statement.execute("INSERT INTO items VALUES (0)");
            harness.start(ID);
            HarnessWorker worker = harness.worker("a");
            statement.execute("LOCK TABLE items IN ACCESS EXCLUSIVE MODE");
            assertThat(worker.step()).isInstanceOf(StepOutcome.Waits.class);
            writer.commit();
            assertThat(worker.step()).isInstanceOf(StepOutcome.Committed.class);
        }
    }

    @Test
    void a_backfill_that_the_barrier_holds_too_long_is_blocked() throws Exception { // SR-6
        BackfillHarness harness = open(counted());
        try (var writer = db.get();
                var statement = writer.createStatement()) {
            writer.setAutoCommit(false);
            statement.execute("INSERT INTO items VALUES (0)");
            harness.start(ID);
            HarnessWorker worker = harness.worker("a");
            worker.step();
            harness.tamper(ID, "barrier_since", "2020-01-01 00:00:00Z");
            worker.step();
            assertThat(state()).isEqualTo(BackfillState.BLOCKED);
            assertThat(column("failure_code")).isEqualTo("start-barrier-timeout");
            writer.rollback();
        }
    }
}
