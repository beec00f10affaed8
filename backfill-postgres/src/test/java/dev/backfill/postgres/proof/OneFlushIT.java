package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.backfill.BackfillDefinition;
import dev.backfill.Pacing;
import dev.backfill.Repair;
import dev.backfill.RowRepair.Row;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.host.StepOutcome.Fenced;
import dev.backfill.host.StepOutcome.Stopped;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.FaultyConnections;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A batch in one flush: nothing of the engine's runs between its first statement and COMMIT, so whatever happens in between must be
 * seen by PostgreSQL. A lock on a row holds the window's statement, and with it the flush, where a test needs it.
 */
@PostgresTest
class OneFlushIT {

    private final TestDatabase db;
    private final FaultyConnections connections;

    OneFlushIT(TestDatabase db) {
        this.db = db;
        this.connections = FaultyConnections.over(db);
    }

    enum Style {
        SQL,
        JAVA
    }

    /** Where the Java style waits: its rows are computed then, and what is left goes in one flush. */
    private Gate gate = new Gate();

    private final AtomicBoolean holds = new AtomicBoolean();

    /** Increments; at the sixth row it waits for as long as a test holds it. */
    private BackfillDefinition<Long> definition(Style style) {
        BackfillDefinition.Builder<Long> inFours =
                Counters.over(Counters.ID.value()).batchSize(4);
        return (style == Style.SQL
                        ? inFours.repair(Repair.update().set("hits", "hits + 1").where("waits(id)"))
                        : inFours.repair(Repair.rows().reading("id", "hits").writing("hits", this::computed)))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
    }

    private long computed(Row row) {
        if ("6".equals(row.text("id")) && holds.getAndSet(false)) {
            gate.hold();
        }
        return Long.parseLong(String.valueOf(row.text("hits"))) + 1;
    }

    @BeforeEach
    void a_function_that_waits() {
        db.execute("create table if not exists held (id int); truncate held;"
                + " create or replace function waits(bigint) returns boolean volatile language plpgsql as $$ begin"
                + " while $1 = 6 and exists (select from held) loop perform pg_sleep(0.01); end loop;"
                + " return true; end $$");
    }

    private BackfillHarness harness(BackfillDefinition<?> definition) {
        return BackfillHarness.over(db)
                .definitions(definition)
                .connections(connections)
                // Longer than a slow machine takes for what happens meanwhile.
                .options(options -> options.statementTimeout(Duration.ofSeconds(9))
                        .idleInTransactionTimeout(Duration.ofSeconds(9))
                        .transactionTimeout(Duration.ofSeconds(9)))
                .open();
    }

    /** A backfill with its first batch committed, which says where the row's counts stand; the second goes in one flush. */
    private static HarnessWorker afterTheFirstBatch(BackfillHarness harness) {
        harness.start(Counters.ID);
        HarnessWorker worker = harness.worker("a");
        assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
        return worker;
    }

    /** The second batch, held in the middle of its flush, or before the one that ends it, while something happens. */
    private StepOutcome held(Style style, HarnessWorker worker, Runnable meanwhile) throws Exception {
        db.execute("insert into held values (1)");
        holds.set(true);
        Future<StepOutcome> step = worker.stepAside();
        if (style == Style.SQL) {
            Eventually.until(
                    "the window's statement waits",
                    () -> db.queryBoolean("select exists (select 1 from pg_stat_activity where wait_event = 'PgSleep'"
                            + " and application_name like 'backfill #%')"));
        } else {
            gate.awaitArrival();
        }
        meanwhile.run();
        db.execute("delete from held");
        gate.open();
        return step.get(60, TimeUnit.SECONDS);
    }

    enum Obstacle {
        PAUSED(harness -> harness.pause(Counters.ID), new Stopped(Counters.ID, BackfillState.PAUSED)),
        STATE(harness -> tamper(harness, "state", "validating"), new Stopped(Counters.ID, BackfillState.VALIDATING)),
        GENERATION(harness -> tamper(harness, "generation", "77"), new Fenced(Counters.ID, "generation")),
        TOKEN(
                harness -> tamper(harness, "claim_token", UUID.randomUUID().toString()),
                new Fenced(Counters.ID, "token")),
        LEASE(harness -> harness.expireLease(Counters.ID), new Fenced(Counters.ID, "lease")),
        CHECKPOINT(harness -> tamper(harness, "checkpoint", "{3}"), new Fenced(Counters.ID, "checkpoint"));

        final Consumer<BackfillHarness> put;
        final StepOutcome outcome;

        Obstacle(Consumer<BackfillHarness> put, StepOutcome outcome) {
            this.put = put;
            this.outcome = outcome;
        }

        private static void tamper(BackfillHarness harness, String column, String value) {
            harness.tamper(Counters.ID, column, value);
        }
    }

    private static Stream<Arguments> everyStyleAndObstacle() {
        return Stream.of(Style.values())
                .flatMap(style -> Stream.of(Obstacle.values()).map(obstacle -> arguments(style, obstacle)));
    }

    @ParameterizedTest
    @MethodSource("everyStyleAndObstacle")
    void what_happens_during_a_flush_rolls_it_back_and_is_named(Style style, Obstacle obstacle)
            throws Exception { // CL-2, LC-4
        Counters.fresh(db, 10);
        try (BackfillHarness harness = harness(definition(style));
                HarnessWorker worker = afterTheFirstBatch(harness)) {
            assertThat(held(style, worker, () -> obstacle.put.accept(harness))).isEqualTo(obstacle.outcome);
        }
        assertThat(Counters.hits(db)).isEqualTo("1111000000");
    }

    @ParameterizedTest
    @EnumSource
    void a_bound_that_is_lower_than_the_window_blocks(Style style) throws Exception { // SR-3, RB-4
        Counters.fresh(db, 10);
        try (BackfillHarness harness = harness(definition(style));
                HarnessWorker worker = afterTheFirstBatch(harness)) {
            assertThat(held(style, worker, () -> harness.tamper(Counters.ID, "bound", "{7}")))
                    .isInstanceOfSatisfying(
                            StepOutcome.Ended.class,
                            ended -> assertThat(ended.diagnostic().code())
                                    .isEqualTo(DiagnosticCode.WINDOW_BEYOND_BOUND.wireName()));
        }
        assertThat(Counters.hits(db)).isEqualTo("1111000000");
    }

    @ParameterizedTest
    @EnumSource
    void a_held_flush_that_nothing_happens_to_commits(Style style) throws Exception { // AT-1
        Counters.fresh(db, 10);
        try (BackfillHarness harness = harness(definition(style));
                HarnessWorker worker = afterTheFirstBatch(harness)) {
            assertThat(held(style, worker, () -> {})).isEqualTo(new Committed(Counters.ID, 4, 4, false));
            assertThat(harness.row(Counters.ID))
                    .containsEntry("rows_scanned", "8")
                    .containsEntry("rows_changed", "8");
        }
        assertThat(Counters.hits(db)).isEqualTo("1111111100");
    }

    @ParameterizedTest
    @EnumSource
    void a_commit_that_landed_unheard_is_found_and_counted_and_not_replayed(Style style) { // AT-3, OB-3
        Counters.fresh(db, 10);
        try (BackfillHarness harness = harness(definition(style));
                HarnessWorker worker = afterTheFirstBatch(harness)) {
            connections.after(FaultPoint.commit(), Fault.cut());
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
            assertThat(Counters.hits(db)).isEqualTo("1111111100");
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 2, 2, true));
            connections.assertAllStruck();
        }
        assertThat(Counters.hits(db)).isEqualTo("1111111111");
    }

    @Test
    void a_row_that_was_set_back_while_the_answer_was_lost_is_no_batch_that_landed() { // AT-3
        Counters.fresh(db, 10);
        try (BackfillHarness harness = harness(definition(Style.SQL));
                HarnessWorker worker = afterTheFirstBatch(harness)) {
            connections.after(FaultPoint.commit(), Fault.cut());
            connections.before(
                    FaultPoint.tagged("reclaim"),
                    link -> db.execute("update backfill set checkpoint = '{2}', batches = 1, rows_scanned = 2"));
            assertThat(worker.step()).isInstanceOf(StepOutcome.Unavailable.class);
            connections.assertAllStruck();
            assertThat(harness.row(Counters.ID)).containsEntry("checkpoint", "{2}");
            // What the flush believed of the row's counts is read anew.
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, true));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_flush_that_never_arrived_is_found_and_its_window_repaired_once(Style style) { // AT-3, RB-3
        Counters.fresh(db, 10);
        try (BackfillHarness harness = harness(definition(style));
                HarnessWorker worker = afterTheFirstBatch(harness)) {
            connections.before(FaultPoint.commit(), Fault.cut());
            assertThat(worker.step()).isInstanceOf(StepOutcome.Retrying.class);
            assertThat(Counters.hits(db)).isEqualTo("1111000000");
            connections.assertAllStruck();
            harness.clearRetryDelay(Counters.ID);
            harness.runToCompletion(Counters.ID);
        }
        assertThat(Counters.hits(db)).isEqualTo("1111111111");
    }

    @ParameterizedTest
    @EnumSource
    void a_session_that_the_server_ends_in_the_middle_leaves_no_trace(Style style) throws Exception { // AT-1, RB-3
        Counters.fresh(db, 10);
        try (BackfillHarness harness = harness(definition(style));
                HarnessWorker worker = afterTheFirstBatch(harness)) {
            StepOutcome outcome = held(
                    style,
                    worker,
                    () -> db.execute("select pg_terminate_backend(pid) from pg_stat_activity"
                            + " where application_name like 'backfill #%' and state <> 'idle'"));
            assertThat(outcome).isInstanceOf(StepOutcome.Retrying.class);
            assertThat(Counters.hits(db)).isEqualTo("1111000000");
            harness.clearRetryDelay(Counters.ID);
            harness.runToCompletion(Counters.ID);
        }
        assertThat(Counters.hits(db)).isEqualTo("1111111111");
    }

    @Test
    void an_error_of_a_row_is_the_rows_and_not_the_fences() { // RB-4
        Counters.fresh(db, 10);
        BackfillDefinition<Long> dividing = Counters.over(Counters.ID.value())
                .batchSize(4)
                .repair(Repair.update().set("hits", "hits + 1 / (id - 6)::int * 0 + 1"))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
        try (BackfillHarness harness = harness(dividing);
                HarnessWorker worker = afterTheFirstBatch(harness)) {
            StepOutcome outcome = Counters.lastStep(worker);
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            StepOutcome.Ended.class,
                            ended -> assertThat(ended.diagnostic().code())
                                    .isEqualTo(DiagnosticCode.DATA_ERROR.wireName()));
        }
        assertThat(Counters.hits(db)).isEqualTo("1111100000");
    }

    @Test
    void a_rule_made_after_the_claim_is_not_counted_over() { // AT-1
        Counters.fresh(db, 10);
        try (BackfillHarness harness = harness(Counters.set(4));
                HarnessWorker worker = afterTheFirstBatch(harness)) {
            // The page is told, and nothing of this table is changed.
            db.execute("drop table if exists elsewhere; create table elsewhere as select id, hits from counters;"
                    + " create rule away as on update to counters"
                    + " do instead update elsewhere set hits = new.hits where id = old.id");
            assertThat(worker.step()).isInstanceOf(StepOutcome.Ended.class);
            assertThat(harness.row(Counters.ID)).containsEntry("checkpoint", "{4}");
        }
    }

    @Test
    void a_trigger_made_after_the_claim_is_not_counted_over() { // OB-3
        Counters.fresh(db, 10);
        // It updates a row under a savepoint and rolls that back, which PostgreSQL counts all the same.
        db.execute("create or replace function undoes() returns trigger language plpgsql as $$ begin begin"
                + " update counters set amount = 9 where id = 9; raise division_by_zero;"
                + " exception when division_by_zero then null; end; return null; end $$");
        BackfillDefinition<Long> half = Counters.over(Counters.ID.value())
                .batchSize(4)
                .repair(Repair.update().set("hits", "hits + 1").where("id <> 6"))
                .validate(Validation.noRowMatches("hits <> 1 and id <> 6"))
                .build();
        try (BackfillHarness harness = harness(half);
                HarnessWorker worker = afterTheFirstBatch(harness)) {
            db.execute("create trigger undoes after update on counters for each statement"
                    + " when (pg_trigger_depth() = 0) execute function undoes()");
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 3, false));
            assertThat(harness.row(Counters.ID)).containsEntry("rows_changed", "7");
        }
    }

    @ParameterizedTest
    @EnumSource
    void rows_that_a_foreign_key_passes_an_update_on_to_are_not_counted(Style style) { // OB-3
        Counters.fresh(db, 10);
        db.execute("alter table counters add unique (hits, id), add column up_hits int, add column up_id bigint,"
                + " add foreign key (up_hits, up_id) references counters (hits, id) on update cascade");
        db.execute("update counters set up_hits = 0, up_id = 5 where id = 9");
        try (BackfillHarness harness = harness(definition(style));
                HarnessWorker worker = afterTheFirstBatch(harness)) {
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
            assertThat(harness.row(Counters.ID)).containsEntry("rows_changed", "8");
        }
    }

    @ParameterizedTest
    @EnumSource
    void where_nothing_is_counted_the_steps_count(Style style) { // OB-3
        Counters.fresh(db, 10);
        String url = db.directUrl() + (db.directUrl().contains("?") ? "&" : "?") + "options=-c%20track_counts%3Doff";
        try (BackfillHarness harness = BackfillHarness.over(db)
                        .definitions(definition(style))
                        .connections(() -> DriverManager.getConnection(url))
                        .open();
                HarnessWorker worker = afterTheFirstBatch(harness)) {
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
            assertThat(harness.row(Counters.ID)).containsEntry("rows_changed", "8");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_count_is_the_batches_own_over_many_batches_of_one_session(Style style) { // OB-3
        Counters.fresh(db, 400);
        db.execute("update counters set hits = 1 where id % 3 = 0");
        BackfillDefinition.Builder<Long> inFours =
                Counters.over(Counters.ID.value()).batchSize(4);
        BackfillDefinition<Long> definition = (style == Style.SQL
                        ? inFours.repair(Repair.update().set("hits", "1").where("hits = 0"))
                        : inFours.repair(Repair.rows().reading("hits").writing("hits", row -> 1)))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
        try (BackfillHarness harness = harness(definition)) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            long changed = 0;
            for (int first = 1; first <= 400; first += 4) {
                long expected = db.queryLong(
                        "select count(*) from counters where hits = 0 and id between ? and ?", first, first + 3);
                assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, expected, first == 397));
                changed += expected;
                assertThat(harness.row(Counters.ID)).containsEntry("rows_changed", Long.toString(changed));
            }
        }
    }

    @Test
    void a_condition_that_no_row_can_meet_goes_step_by_step_and_moves_on() { // SR-7
        Counters.fresh(db, 40);
        BackfillDefinition<Long> nobody = Counters.over(Counters.ID.value())
                .batchSize(4)
                .repair(Repair.update().set("hits", "hits + 1").where("false"))
                .pacing(Pacing.unlimited().targetBatchTime(Duration.ofMinutes(1)))
                .validate(Validation.noRowMatches("hits <> 0"))
                .build();
        try (BackfillHarness harness = harness(nobody)) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 0, false));
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 16, 0, false));
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 20, 0, true));
        }
    }

    @Test
    void a_repair_that_changes_more_rows_than_its_window_holds_is_rolled_back_and_blocked() { // BB-6, SR-5
        Counters.fresh(db, 10);
        try (BackfillHarness harness = harness(changingOthersFrom(1))) {
            harness.start(Counters.ID);
            assertExceeded(harness.worker("a").step());
        }
        assertThat(Counters.hits(db)).isEqualTo("0000000000");
        assertThat(db.queryLong("select count(*) from counters where amount = 2"))
                .isZero();
    }

    @Test
    void a_flush_that_changes_more_rows_than_its_window_holds_is_rolled_back_and_blocked() { // BB-6, SR-5
        Counters.fresh(db, 10);
        try (BackfillHarness harness = harness(changingOthersFrom(5));
                HarnessWorker worker = afterTheFirstBatch(harness)) {
            assertExceeded(worker.step());
        }
        assertThat(Counters.hits(db)).isEqualTo("1111000000");
        assertThat(db.queryLong("select count(*) from counters where amount = 2"))
                .isZero();
    }

    @Test
    void a_page_that_is_said_to_be_larger_than_its_limit_is_rolled_back_and_blocked() { // BB-1
        Counters.fresh(db, 10);
        db.execute("create or replace function lies(bigint) returns int volatile language plpgsql as $$ begin"
                + " if $1 = 5 then perform set_config('backfill.page', '5 {9}', true); end if; return 1; end $$");
        BackfillDefinition<Long> lying = Counters.over(Counters.ID.value())
                .batchSize(4)
                .repair(Repair.update().set("hits", "lies(id)").where("hits = 0"))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
        try (BackfillHarness harness = harness(lying);
                HarnessWorker worker = afterTheFirstBatch(harness)) {
            assertThat(worker.step())
                    .isInstanceOfSatisfying(
                            StepOutcome.Ended.class,
                            ended -> assertThat(ended.diagnostic().code())
                                    .isEqualTo(DiagnosticCode.WINDOW_TOO_LARGE.wireName()));
        }
        assertThat(Counters.hits(db)).isEqualTo("1111000000");
    }

    /** A function in the repair's expression changes all rows from the ninth on, at a certain key. */
    private BackfillDefinition<Long> changingOthersFrom(long key) {
        db.execute("create or replace function others(bigint) returns int volatile language plpgsql as $$ begin"
                + " if $1 = " + key + " then update counters set amount = 2 where id > 8; end if; return 1; end $$");
        return Counters.over(Counters.ID.value())
                .batchSize(4)
                .repair(Repair.update().set("hits", "others(id)").where("hits = 0"))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
    }

    private static void assertExceeded(StepOutcome outcome) {
        assertThat(outcome).isInstanceOfSatisfying(StepOutcome.Ended.class, ended -> {
            assertThat(ended.state()).isEqualTo(BackfillState.BLOCKED);
            assertThat(ended.diagnostic().code()).isEqualTo(DiagnosticCode.WINDOW_EXCEEDED.wireName());
        });
    }
}
