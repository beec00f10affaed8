package dev.backfill.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.host.StepOutcome;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.host.StepOutcome.NothingToDo;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.List;
import org.junit.jupiter.api.Test;

@PostgresTest
class SpineIT {

    private final TestDatabase db;

    SpineIT(TestDatabase db) {
        this.db = db;
    }

    private void completes(BackfillDefinition<?> definition, long rows, boolean fused) {
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(definition)
                .options(o -> o.fusedCommit(fused))
                .open()) {
            assertThat(harness.state(definition.id())).isEqualTo(BackfillState.PENDING);
            harness.start(definition.id());
            List<StepOutcome> steps = harness.runToCompletion(definition.id());
            assertThat(steps.get(steps.size() - 1)).isInstanceOf(StepOutcome.Completed.class);
            BackfillSnapshot row = harness.show(definition.id());
            assertThat(row.state()).isEqualTo(BackfillState.COMPLETED);
            assertThat(row.progress().rowsScanned()).isEqualTo(rows);
            assertThat(row.checkpoint()).isEqualTo(row.bound().key());
            assertThat(row.completedLsn()).isNotNull();
        } finally {
            db.execute("drop table if exists backfill, backfill_definition, backfill_validation, backfill_request,"
                    + " backfill_audit, backfill_pace, backfill_family, backfill_schema_version");
        }
    }

    @Test
    void a_set_repair_repairs_every_row_once_and_completes() { // VA-1, VA-3, SR-3
        for (boolean fused : List.of(true, false)) {
            Samples.items(db, 1_000);
            completes(Samples.doubling(64), 1_000, fused);
            assertThat(db.queryLong("select count(*) from items where doubled = n * 2 and hits = 1"))
                    .isEqualTo(1_000);
        }
    }

    @Test
    void a_row_repair_writes_back_only_what_differs() {
        Samples.items(db, 500);
        db.execute("update items set name = upper(name) where n % 2 = 0");
        String before = db.queryText("select string_agg(xmin::text, ',' order by id) from items where n % 2 = 0");
        completes(Samples.upper(50), 500, true);
        assertThat(db.queryLong("select count(*) from items where name = upper(name)"))
                .isEqualTo(500);
        assertThat(db.queryText("select string_agg(xmin::text, ',' order by id) from items where n % 2 = 0"))
                .isEqualTo(before);
    }

    @Test
    void a_custom_repair_sees_every_key_once() { // AT-3
        Samples.items(db, 300);
        completes(Samples.counting(7, (batch, tx) -> 0), 300, true);
        assertThat(db.queryLong("select count(*) from items where hits = 1")).isEqualTo(300);
    }

    @Test
    void a_compound_key_walks_through_ties_that_are_larger_than_a_batch() { // SR-2
        Samples.ties(db, 400);
        completes(Samples.tied(3), 400, true);
        assertThat(db.queryLong("select count(*) from ties where done")).isEqualTo(400);
    }

    @Test
    void an_empty_source_completes_with_an_explicit_empty_bound() { // LC-5
        Samples.items(db, 0);
        BackfillDefinition<Long> definition = Samples.doubling(10);
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(definition.id());
            BackfillId id = definition.id();
            assertThat(harness.show(id).bound().kind()).isEqualTo(BackfillSnapshot.BoundKind.EMPTY);
            var worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(id, 0, 0, true));
            assertThat(worker.step()).isEqualTo(new StepOutcome.Completed(id));
            assertThat(worker.step()).isEqualTo(new NothingToDo());
        }
    }
}
