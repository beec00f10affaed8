package dev.backfill.postgres.kind;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.operate.Waiting;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The faults that backfills are known for, each set up for real: late commits, deleted rows, poison, needless writes, deadlocks. */
@PostgresTest
class FaultCatalogueIT {

    private final TestDatabase db;

    FaultCatalogueIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void rows() {
        Notes.fill(db, 100);
    }

    @AfterEach
    void nothing_is_left() {
        db.clear();
    }

    /** A transaction of the application that has written and is still open. */
    private final class OpenWriter implements AutoCloseable {

        private final Connection connection = db.connection();
        private final Statement statement;

        OpenWriter(String sql) throws SQLException {
            connection.setAutoCommit(false);
            statement = connection.createStatement();
            statement.execute(sql);
        }

        void and(String sql) throws SQLException {
            statement.execute(sql);
        }

        void commit() throws SQLException {
            connection.commit();
        }

        @Override
        public void close() throws SQLException {
            connection.close();
        }
    }

    private static void finish(HarnessWorker worker) {
        StepOutcome step = worker.step();
        while (step instanceof Committed) {
            step = worker.step();
        }
        assertThat(step).isEqualTo(new StepOutcome.Completed(Notes.ID));
    }

    @Test
    void a_row_that_is_committed_late_below_the_bound_is_repaired() throws Exception { // SR-6
        BackfillDefinition<Long> definition = Notes.seeing(50).build();
        try (BackfillHarness harness = BackfillHarness.on(db, definition);
                OpenWriter late = new OpenWriter("insert into notes values (-5, 0)")) {
            harness.start(Notes.ID);
            HarnessWorker worker = harness.worker("a");
            for (int i = 0; i < 3; i++) {
                assertThat(worker.step()).isEqualTo(new StepOutcome.Waits(Notes.ID, Waiting.Reason.START_BARRIER));
            }
            Waiting waiting = Objects.requireNonNull(harness.show(Notes.ID).waiting());
            assertThat(waiting.reason()).isEqualTo(Waiting.Reason.START_BARRIER);
            assertThat(waiting.detail())
                    .containsPattern("1 transaction from before the start, the oldest of process \\d+ open for \\d+ s");
            assertThat(db.queryLong("select count(*) from pg_locks where not granted"))
                    .isZero();
            late.and("update notes set n = 1 where id = 50");
            late.commit();
            finish(worker);
            assertThat(db.queryLong("select seen from notes where id = -5")).isEqualTo(1);
        }
    }

    @Test
    void a_barrier_that_lasts_too_long_blocks_the_row_and_says_who_held_it() throws Exception { // SR-6
        BackfillDefinition<Long> definition = Notes.seeing(50).build();
        try (BackfillHarness harness = BackfillHarness.over(db)
                        .definitions(definition)
                        .options(o -> o.barrierTimeout(Duration.ofMillis(10)))
                        .open();
                OpenWriter late = new OpenWriter("insert into notes values (-5, 0)")) {
            harness.start(Notes.ID);
            HarnessWorker worker = harness.worker("a");
            Eventually.until("the barrier has waited too long", () -> worker.step() instanceof StepOutcome.Ended);
            assertThat(harness.state(Notes.ID)).isEqualTo(BackfillState.BLOCKED);
            assertThat(harness.row(Notes.ID).get("failure_code"))
                    .isEqualTo(DiagnosticCode.START_BARRIER_TIMEOUT.wireName());
            assertThat(harness.row(Notes.ID).get("failure_message")).containsPattern("process \\d+");
            late.commit();
            harness.retry(Notes.ID);
            harness.runToCompletion(Notes.ID);
            assertThat(db.queryLong("select seen from notes where id = -5")).isEqualTo(1);
        }
    }

    @Test
    void a_barrier_before_the_validation_of_an_empty_source_is_bounded_too() throws Exception { // SR-6, LC-5
        db.execute("delete from notes");
        try (BackfillHarness harness = BackfillHarness.over(db)
                        .definitions(Notes.seeing(50).build())
                        .options(o -> o.barrierTimeout(Duration.ofMillis(10)))
                        .open();
                OpenWriter late = new OpenWriter("insert into notes values (-5, 0)")) {
            harness.start(Notes.ID);
            harness.pause(Notes.ID);
            // With nothing to repair it goes straight to its validation.
            harness.resume(Notes.ID);
            assertThat(harness.state(Notes.ID)).isEqualTo(BackfillState.VALIDATING);
            HarnessWorker worker = harness.worker("a");
            Eventually.until("the barrier has waited too long", () -> worker.step() instanceof StepOutcome.Ended);
            assertThat(harness.state(Notes.ID)).isEqualTo(BackfillState.BLOCKED);
            assertThat(harness.row(Notes.ID))
                    .containsEntry("failure_code", DiagnosticCode.START_BARRIER_TIMEOUT.wireName());
            late.commit();
            harness.retry(Notes.ID);
            harness.runToCompletion(Notes.ID);
        }
    }

    @Test
    void a_transaction_that_only_reads_holds_no_barrier_and_an_opt_out_waits_for_nobody() throws Exception { // SR-6
        try (BackfillHarness harness = BackfillHarness.on(db, Notes.seeing(50).build());
                OpenWriter reader = new OpenWriter("select count(*) from notes")) {
            harness.start(Notes.ID);
            assertThat(harness.worker("a").step()).isInstanceOf(Committed.class);
            reader.commit();
        }
        db.clear();
        Notes.fill(db, 100);
        try (BackfillHarness harness = BackfillHarness.on(
                        db, Notes.seeing(50).withoutStartBarrier().build());
                OpenWriter writer = new OpenWriter("update notes set n = 0 where id = 100")) {
            harness.start(Notes.ID);
            assertThat(harness.worker("a").step()).isInstanceOf(Committed.class);
            writer.commit();
        }
    }

    @Test
    void rows_that_disappear_under_the_walk_stop_nothing() { // SR-3, LC-5
        try (BackfillHarness harness = BackfillHarness.on(db, Notes.seeing(10).build())) {
            harness.start(Notes.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(Notes.ID, 10, 10, false));
            // The checkpoint's own row, the whole next window, and the bound's own row.
            db.execute("delete from notes where id between 10 and 20 or id > 95");
            assertThat(worker.step()).isEqualTo(new Committed(Notes.ID, 10, 10, false));
            assertThat(harness.show(Notes.ID).checkpoint()).containsExactly("30");
            finish(worker);
            assertThat(harness.show(Notes.ID).checkpoint()).containsExactly("100");
        }
    }

    @Test
    void a_row_inserted_beyond_the_bound_belongs_to_its_writer() { // SR-5
        try (BackfillHarness harness = BackfillHarness.on(db, Notes.seeing(60).build())) {
            harness.start(Notes.ID);
            db.execute("insert into notes values (101, 0)");
            harness.runToCompletion(Notes.ID);
            assertThat(db.queryLong("select seen from notes where id = 101")).isZero();
        }
    }

    @Test
    void unchanged_rows_are_not_rewritten_even_if_the_author_gives_no_condition() {
        db.execute("update notes set seen = 1 where id % 2 = 0");
        String before = db.queryText("select string_agg(xmin::text, ',' order by id) from notes where id % 2 = 0");
        List<BackfillDefinition<Long>> definitions = List.of(
                Notes.over()
                        .batchSize(30)
                        .repair(Repair.update().set("seen", "1"))
                        .validate(Validation.noRowMatches("seen <> 1"))
                        .build(),
                Notes.over()
                        .batchSize(30)
                        .repair(Repair.rows().reading("n").writing("seen", row -> 1))
                        .validate(Validation.noRowMatches("seen <> 1"))
                        .build());
        for (BackfillDefinition<Long> definition : definitions) {
            try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
                harness.runToCompletion(Notes.ID);
                assertThat(harness.show(Notes.ID).progress().rowsChanged()).isEqualTo(50);
            }
            assertThat(db.queryText("select string_agg(xmin::text, ',' order by id) from notes where id % 2 = 0"))
                    .isEqualTo(before);
            db.execute(
                    "update notes set seen = 0 where id % 2 = 1; drop table backfill, backfill_definition,"
                            + " backfill_validation, backfill_request, backfill_audit, backfill_pace, backfill_family, backfill_schema_version");
        }
    }

    @Test
    void a_poison_row_is_narrowed_down_and_the_good_part_commits() { // RB-4
        db.execute("alter table notes add constraint good check (id <> 27 or seen = 0)");
        try (BackfillHarness harness = BackfillHarness.on(db, Notes.seeing(16).build())) {
            harness.start(Notes.ID);
            HarnessWorker worker = harness.worker("a");
            StepOutcome step = worker.step();
            for (int i = 0; i < 30 && !(step instanceof StepOutcome.Ended); i++) {
                step = worker.step();
            }
            assertThat(step).isInstanceOf(StepOutcome.Ended.class);
            assertThat(harness.state(Notes.ID)).isEqualTo(BackfillState.BLOCKED);
            assertThat(harness.row(Notes.ID).get("failure_message"))
                    .contains("Key (id = 27)")
                    .contains("good")
                    .contains("23514");
            assertThat(harness.show(Notes.ID).checkpoint()).containsExactly("26");
            assertThat(db.queryLong("select count(*) from notes where seen = 1 and id <= 26"))
                    .isEqualTo(26);
            assertThat(harness.row(Notes.ID)).containsEntry("attempts", "0");
            db.execute("alter table notes drop constraint good");
            harness.retry(Notes.ID);
            harness.runToCompletion(Notes.ID);
            assertThat(db.queryLong("select count(*) from notes where seen = 1"))
                    .isEqualTo(100);
        }
    }

    @Test
    void in_a_deadlock_with_the_application_the_repair_is_the_victim() throws Exception {
        try (BackfillHarness harness = BackfillHarness.on(db, Notes.seeing(100).build())) {
            harness.start(Notes.ID);
            HarnessWorker worker = harness.worker("a");
            // As if the barrier had been passed before the application began.
            harness.tamper(Notes.ID, "barrier_passed_at", "2026-01-01");
            try (OpenWriter application = new OpenWriter("update notes set n = 0 where id = 90")) {
                var batch = worker.stepAside();
                Eventually.until(
                        "the batch waits for the application",
                        () -> db.queryLong("select count(*) from pg_locks where not granted") > 0 || batch.isDone());
                application.and("update notes set n = 0 where id = 10");
                application.commit();
                assertThat(batch.get())
                        .isInstanceOfSatisfying(
                                StepOutcome.Retrying.class,
                                retrying -> assertThat(retrying.diagnostic().code())
                                        .isEqualTo(DiagnosticCode.CONTENTION.wireName()));
            }
            assertThat(harness.row(Notes.ID)).containsEntry("attempts", "0");
            harness.clearRetryDelay(Notes.ID);
            harness.runToCompletion(Notes.ID);
        }
    }
}
