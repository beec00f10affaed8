package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.backfill.BackfillDefinition;
import dev.backfill.Repair;
import dev.backfill.UpdateRepair;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.host.StepOutcome.Fenced;
import dev.backfill.host.StepOutcome.Stopped;
import dev.backfill.host.StepOutcome.Waits;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Waiting;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.UUID;
import java.util.concurrent.CountDownLatch;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * A batch whose row does not allow it does no work, though the window's first statement travels together with the look at the row.
 * Every repair here draws from a sequence for each row that it looks at, which no rollback undoes.
 */
@PostgresTest
class BatchGateIT {

    private static final String LOOKED = "nextval('looked') > 0";

    private static final UpdateRepair COUNTED =
            Repair.update().set("hits", "hits + 1").where(LOOKED);

    private final TestDatabase db;

    BatchGateIT(TestDatabase db) {
        this.db = db;
    }

    enum Style {
        SET(inFours().repair(COUNTED)),
        // A statement's triggers make it another statement.
        SET_WITH_TRIGGER(inFours().repair(COUNTED)),
        ROW(inFours()
                .repair(Repair.rows()
                        .reading("hits")
                        .writing("hits", row -> Long.parseLong(String.valueOf(row.text("hits"))) + 1)
                        .where(LOOKED))),
        CUSTOM(inFours().repair((batch, tx) -> {
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute("select nextval('looked')");
            }
            return Counters.count(tx, batch.keys());
        }));

        final BackfillDefinition<Long> definition;

        Style(BackfillDefinition.Builder<Long> builder) {
            this.definition =
                    builder.validate(Validation.noRowMatches("hits <> 1")).build();
        }
    }

    enum Obstacle {
        PAUSED(harness -> harness.pause(Counters.ID), new Stopped(Counters.ID, BackfillState.PAUSED)),
        VALIDATING(
                harness -> tamper(harness, "state", "validating"), new Stopped(Counters.ID, BackfillState.VALIDATING)),
        GENERATION(harness -> tamper(harness, "generation", "77"), new Fenced(Counters.ID, "generation")),
        TOKEN(
                harness -> tamper(harness, "claim_token", UUID.randomUUID().toString()),
                new Fenced(Counters.ID, "token")),
        LEASE(harness -> harness.expireLease(Counters.ID), new Fenced(Counters.ID, "lease"));

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

    private static BackfillDefinition.Builder<Long> inFours() {
        return Counters.over(Counters.ID.value()).batchSize(4);
    }

    private static Stream<Arguments> everyStyleAndObstacle() {
        return Stream.of(Style.values())
                .flatMap(style -> Stream.of(Obstacle.values()).map(obstacle -> arguments(style, obstacle)));
    }

    /** A backfill with one batch committed, and that worker. */
    private HarnessWorker afterTheFirstBatch(BackfillHarness harness) {
        harness.start(Counters.ID);
        HarnessWorker worker = harness.worker("a");
        assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
        return worker;
    }

    private long looked() {
        return db.queryLong("select case when is_called then last_value else 0 end from looked");
    }

    private void fresh(Style style) {
        Counters.fresh(db, 10);
        db.execute("drop sequence if exists looked; create sequence looked");
        if (style == Style.SET_WITH_TRIGGER) {
            db.execute("create or replace function nothing() returns trigger language plpgsql as"
                    + " 'begin perform nextval(''looked''); return null; end';"
                    + " create trigger nothing after update on counters for each statement execute function nothing()");
        }
    }

    @ParameterizedTest
    @MethodSource("everyStyleAndObstacle")
    void a_batch_whose_row_does_not_allow_it_looks_at_no_row(Style style, Obstacle obstacle) { // CL-2, LC-4
        fresh(style);
        try (BackfillHarness harness = BackfillHarness.on(db, style.definition);
                HarnessWorker worker = afterTheFirstBatch(harness)) {
            obstacle.put.accept(harness);
            long looked = looked();
            assertThat(worker.step()).isEqualTo(obstacle.outcome);
            assertThat(looked()).isEqualTo(looked).isPositive();
        }
        assertThat(Counters.hits(db)).isEqualTo("1111000000");
    }

    @ParameterizedTest
    @EnumSource
    void a_batch_whose_row_is_gone_does_nothing_even_if_the_session_brings_an_open_gate(Style style) { // CL-2
        fresh(style);
        // A pooler takes no such options.
        String url = db.directUrl() + (db.directUrl().contains("?") ? "&" : "?") + "options=-c%20backfill.gate%3Dopen";
        try (BackfillHarness harness = BackfillHarness.over(db)
                        .definitions(style.definition)
                        .connections(() -> DriverManager.getConnection(url))
                        .open();
                HarnessWorker worker = afterTheFirstBatch(harness)) {
            db.execute("delete from backfill");
            long looked = looked();
            assertThat(worker.step()).isEqualTo(new Stopped(Counters.ID, null));
            assertThat(looked()).isEqualTo(looked).isPositive();
        }
        assertThat(Counters.hits(db)).isEqualTo("1111000000");
    }

    @Test
    void a_gate_that_the_authors_function_shuts_hides_no_row() { // SR-7, VA-1
        Counters.fresh(db, 10);
        db.execute("create or replace function shuts(int) returns boolean immutable language plpgsql as"
                + " 'begin perform set_config(''backfill.gate'', '''', true); return true; end'");
        BackfillDefinition<Long> shutting = inFours()
                .repair(Repair.rows().reading("hits").writing("hits", row -> 1).where("shuts(1)"))
                .validate(Validation.noRowMatches("false"))
                .build();
        try (BackfillHarness harness = BackfillHarness.on(db, shutting)) {
            harness.start(Counters.ID);
            harness.runToCompletion(Counters.ID);
        }
        assertThat(Counters.hits(db)).isEqualTo("1111111111");
    }

    @ParameterizedTest
    @EnumSource
    void a_later_batch_waits_for_the_start_barrier_too(Style style) throws SQLException { // SR-6
        fresh(style);
        try (BackfillHarness harness = BackfillHarness.on(db, style.definition);
                HarnessWorker worker = afterTheFirstBatch(harness);
                Connection writer = db.get();
                Statement statement = writer.createStatement()) {
            writer.setAutoCommit(false);
            statement.execute("update counters set amount = 2 where id = 5");
            // As after a version without the barrier began the work.
            long own = db.queryLong("select pg_snapshot_xmin(pg_current_snapshot())::text::bigint");
            harness.tamper(Counters.ID, "barrier_passed_at", null);
            harness.tamper(Counters.ID, "bound_xmax", Long.toString(own + 1));
            assertThat(worker.step()).isEqualTo(new Waits(Counters.ID, Waiting.Reason.START_BARRIER));
            writer.commit();
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
        }
        assertThat(Counters.hits(db)).isEqualTo("1111111100");
    }

    @Test
    void a_look_that_hangs_is_no_fault_of_the_definition() throws Exception { // RB-2, RB-3, BB-2
        Counters.fresh(db, 10);
        CountDownLatch inFirstBatch = new CountDownLatch(1);
        CountDownLatch locked = new CountDownLatch(1);
        BackfillDefinition<Long> waiting = Counters.custom(4, (batch, tx) -> {
            inFirstBatch.countDown();
            locked.await();
            return 0;
        });
        try (BackfillHarness harness = hurried(waiting);
                Connection other = db.get();
                Statement statement = other.createStatement()) {
            harness.start(Counters.ID);
            inFirstBatch.await();
            other.setAutoCommit(false);
            // The first batch's look has read it, so this waits for its end; the second one's waits for this, under no
            // limit of PostgreSQL's yet.
            Thread locking = new Thread(() -> lockPaces(statement), "locking");
            locking.start();
            Eventually.until(
                    "the lock is asked for",
                    () -> db.queryLong("select count(*) from pg_locks where not granted"
                                    + " and relation = 'backfill_pace'::regclass")
                            == 1);
            locked.countDown();
            Eventually.until(
                    "a failure is recorded", () -> harness.row(Counters.ID).get("failure_code") != null);
            assertThat(harness.row(Counters.ID))
                    .containsEntry("batches", "1")
                    .containsEntry("failure_code", "infrastructure");
            locking.join();
            other.rollback();
        } finally {
            locked.countDown();
        }
    }

    @Test
    void what_the_windows_statement_took_is_no_more_time_for_the_code() { // BB-2
        Counters.fresh(db, 10);
        // A timer and not a barrier, because it is the statement's time that counts.
        db.execute("create or replace function slow(bigint) returns bigint language sql as"
                + " 'select $1 from pg_sleep(case when $1 = 1 then 1.3 else 0 end)'");
        CountDownLatch release = new CountDownLatch(1);
        BackfillDefinition<Long> endless = inFours()
                .repair(Repair.rows()
                        .reading("hits")
                        .writing("hits", row -> deafUntil(release))
                        .where("slow(id) > 0"))
                .validate(Validation.noRowMatches("false"))
                .build();
        Duration limit = Duration.ofMillis(1_500);
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(endless)
                .options(options -> options.workers(1)
                        .statementTimeout(limit)
                        .transactionTimeout(limit)
                        .idleInTransactionTimeout(limit)
                        .lease(limit.multipliedBy(2))
                        .closeTimeout(limit))
                .open()) {
            harness.start(Counters.ID);
            Eventually.until(
                    "the overrun is recorded while the lease holds",
                    () -> "deadline-passed".equals(harness.row(Counters.ID).get("failure_code")));
        } finally {
            release.countDown();
        }
    }

    private static int deafUntil(CountDownLatch release) {
        while (true) {
            try {
                release.await();
                return 1;
            } catch (InterruptedException e) {
                // deaf
            }
        }
    }

    /** A worker of its own, and a socket whose time is longer than a definition's own deadline, so that this would be first. */
    private BackfillHarness hurried(BackfillDefinition<?> definition) {
        Duration limit = Duration.ofSeconds(2);
        return BackfillHarness.over(db)
                .definitions(definition)
                .options(options -> options.workers(1)
                        .statementTimeout(limit)
                        .transactionTimeout(limit)
                        .idleInTransactionTimeout(limit)
                        .lease(Duration.ofSeconds(7))
                        .workerSocketTimeout(Duration.ofMillis(5_200)))
                .open();
    }

    private static void lockPaces(Statement statement) {
        try {
            statement.execute("lock table backfill_pace in access exclusive mode");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }
}
