package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.ValidationOutcome;
import dev.backfill.host.StepOutcome;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.host.StepOutcome.Ended;
import dev.backfill.host.StepOutcome.Waits;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.operate.ValidationReport;
import dev.backfill.operate.Waiting;
import dev.backfill.postgres.internal.batch.FenceSql.Work;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.History;
import dev.backfill.postgres.internal.work.Settlement;
import dev.backfill.postgres.internal.work.Settlement.Verdict;
import dev.backfill.spi.ConnectionSource;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Ways in which rows could stay wrong and a backfill be called completed all the same; docs/conformance.md lists them. */
@PostgresTest
class FalseCompletionIT {

    private final TestDatabase db;

    FalseCompletionIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void ten_rows() {
        db.execute("drop schema if exists tenant cascade");
        Counters.fresh(db, 10);
    }

    private HarnessWorker validating(BackfillHarness harness) {
        harness.start(Counters.ID);
        HarnessWorker worker = harness.worker("a");
        StepOutcome step = worker.step();
        while (!(step instanceof Committed committed && committed.boundReached())) {
            assertThat(step).isInstanceOf(Committed.class);
            step = worker.step();
        }
        return worker;
    }

    private void awaitLockWait() {
        Eventually.until(
                "somebody waits for the table",
                () -> db.queryLong("select count(*) from pg_locks where not granted and locktype = 'relation'") > 0);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "alter table counters alter column amount type bigint",
                "create temp table kept on commit drop as select * from counters; truncate counters;"
                        + " insert into counters select * from kept"
            })
    void a_validation_that_waited_for_a_rewrite_sees_the_rows_behind_it(String rewrite) throws Exception { // VA-2
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.set(10));
                Connection rewriter = db.connection();
                Statement statement = rewriter.createStatement()) {
            HarnessWorker worker = validating(harness);
            db.execute("update counters set hits = 0 where id = 7");
            rewriter.setAutoCommit(false);
            statement.execute(rewrite);
            Future<StepOutcome> step = worker.stepAside();
            awaitLockWait();
            rewriter.commit();
            assertThat(step.get(30, TimeUnit.SECONDS))
                    .isInstanceOfSatisfying(
                            Ended.class, ended -> assertThat(ended.state()).isEqualTo(BackfillState.FAILED));
        }
    }

    @Test
    void an_explicit_validation_that_waited_for_a_rewrite_sees_the_rows_behind_it() throws Exception { // VA-2, EV-1
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.set(10));
                Connection rewriter = db.connection();
                Statement statement = rewriter.createStatement()) {
            assertThat(validating(harness).step()).isEqualTo(new StepOutcome.Completed(Counters.ID));
            db.execute("update counters set hits = 0 where id = 7");
            rewriter.setAutoCommit(false);
            statement.execute("alter table counters alter column amount type bigint");
            AtomicBoolean committed = new AtomicBoolean();
            Thread end = new Thread(() -> {
                awaitLockWait();
                try {
                    rewriter.commit();
                    committed.set(true);
                } catch (java.sql.SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            end.start();
            ValidationReport report = harness.validate(Counters.ID);
            end.join(30_000);
            assertThat(committed).isTrue();
            assertThat(report).isInstanceOf(ValidationReport.Failure.class);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "alter table ledger alter column n type bigint",
                "create table kept (n int); insert into kept values (1); alter table ledger rename to gone;"
                        + " alter table kept rename to ledger"
            })
    void a_proof_that_reads_a_table_rewritten_after_its_snapshot_is_void(String rewrite) { // VA-2
        db.execute(
                "drop table if exists ledger, gone, kept; create table ledger (n int); insert into ledger values (1)");
        AtomicBoolean rewritten = new AtomicBoolean();
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.validatedBy(tx -> {
            if (!rewritten.getAndSet(true)) {
                db.execute(rewrite);
            }
            try (Statement statement = tx.connection().createStatement();
                    ResultSet row = statement.executeQuery("select count(*) from ledger")) {
                row.next();
                return row.getLong(1) == 0 ? ValidationOutcome.holds() : ValidationOutcome.rejected("still owed");
            }
        }))) {
            HarnessWorker worker = validating(harness);
            assertThat(worker.step())
                    .isInstanceOfSatisfying(
                            StepOutcome.Retrying.class,
                            retrying -> assertThat(retrying.diagnostic().code())
                                    .isEqualTo(DiagnosticCode.CONTENTION.wireName()));
            harness.clearRetryDelay(Counters.ID);
            assertThat(worker.step())
                    .isInstanceOfSatisfying(
                            Ended.class, ended -> assertThat(ended.state()).isEqualTo(BackfillState.FAILED));
        }
    }

    @Test
    void a_bound_that_waited_for_a_rewrite_is_the_one_behind_it() throws Exception { // SR-1, LC-5
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.set(100));
                Connection rewriter = db.connection();
                Statement statement = rewriter.createStatement()) {
            rewriter.setAutoCommit(false);
            statement.execute("create temp table kept on commit drop as select * from counters; truncate counters;"
                    + " insert into counters select * from kept; insert into counters (id) values (11)");
            Thread end = new Thread(() -> {
                awaitLockWait();
                try {
                    rewriter.commit();
                } catch (java.sql.SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            end.start();
            harness.start(Counters.ID);
            end.join(30_000);
            assertThat(harness.row(Counters.ID)).containsEntry("bound", "{11}");
        }
    }

    @Test
    void a_batch_that_waited_for_a_rewrite_does_not_take_the_source_for_exhausted() throws Exception { // SR-7
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.set(4));
                Connection rewriter = db.connection();
                Statement statement = rewriter.createStatement()) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
            rewriter.setAutoCommit(false);
            statement.execute("create temp table kept on commit drop as select * from counters; truncate counters;"
                    + " insert into counters select * from kept");
            Future<StepOutcome> step = worker.stepAside();
            awaitLockWait();
            rewriter.commit();
            assertThat(step.get(30, TimeUnit.SECONDS)).isEqualTo(new Committed(Counters.ID, 4, 4, false));
        }
    }

    private ConnectionSource withSearchPath(AtomicBoolean tenant) {
        return () -> {
            Connection connection = db.get();
            try (Statement statement = connection.createStatement()) {
                statement.execute("set search_path = " + (tenant.get() ? "tenant, public" : "public"));
            }
            return connection;
        };
    }

    @Test
    void a_name_that_means_another_table_later_is_a_schema_failure_by_name() { // SR-10
        db.execute("create schema tenant; create table tenant.counters (like public.counters including all)");
        AtomicBoolean tenant = new AtomicBoolean();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .connections(withSearchPath(tenant))
                .schemaName("public")
                .definitions(Counters.set(4))
                .open()) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
            tenant.set(true);
            assertThat(worker.step()).isInstanceOfSatisfying(Ended.class, ended -> {
                assertThat(ended.state()).isEqualTo(BackfillState.BLOCKED);
                assertThat(ended.diagnostic().code()).isEqualTo(DiagnosticCode.INCOMPATIBLE_SCHEMA.wireName());
                assertThat(ended.diagnostic().message()).contains("public.counters", "now means tenant.counters");
            });
            harness.perform(BackfillAction.RETRY, Counters.ID);
            assertThat(harness.worker("b").step()).isEqualTo(new StepOutcome.NothingToDo());
            assertThat(harness.show(Counters.ID).waiting()).satisfies(waiting -> {
                assertThat(waiting.reason()).isEqualTo(Waiting.Reason.SCHEMA);
                assertThat(waiting.detail()).contains("public.counters", "tenant.counters");
            });
            assertThat(harness.validate(Counters.ID)).isInstanceOf(ValidationReport.CurrentState.class);
            tenant.set(false);
            harness.runToCompletion(Counters.ID);
        }
        assertThat(Counters.hits(db)).isEqualTo("1111111111");
    }

    @Test
    void a_table_that_takes_the_name_in_the_middle_of_a_batch_rolls_it_back() { // SR-10, AT-1
        db.execute("create schema tenant");
        AtomicBoolean made = new AtomicBoolean();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .connections(withSearchPath(new AtomicBoolean(true)))
                .schemaName("public")
                .definitions(Counters.custom(4, (batch, tx) -> {
                    if (!made.getAndSet(true)) {
                        db.execute("create table tenant.counters (like public.counters including all)");
                    }
                    return 0;
                }))
                .open()) {
            harness.start(Counters.ID);
            assertThat(harness.worker("a").step()).isInstanceOfSatisfying(Ended.class, ended -> {
                assertThat(ended.state()).isEqualTo(BackfillState.BLOCKED);
                assertThat(ended.diagnostic().message()).contains("public.counters", "now means tenant.counters");
            });
            assertThat(harness.row(Counters.ID)).containsEntry("checkpoint", null);
        }
    }

    @Test
    void a_table_that_was_swapped_by_renaming_is_another_one() { // SR-10
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.set(4))) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
            db.execute("drop table if exists counters_old; create table counters_new (like counters including all);"
                    + " insert into counters_new select * from counters;"
                    + " alter table counters rename to counters_old; alter table counters_new rename to counters");
            assertThat(worker.step())
                    .isInstanceOfSatisfying(
                            Ended.class,
                            ended -> assertThat(ended.diagnostic().message()).contains("under a new ID"));
        }
    }

    @Test
    void a_read_only_default_is_obeyed_shown_and_costs_nothing() { // CF-10
        AtomicBoolean readOnly = new AtomicBoolean();
        ConnectionSource source = () -> {
            Connection connection = db.get();
            try (Statement statement = connection.createStatement()) {
                statement.execute("set default_transaction_read_only = " + (readOnly.get() ? "on" : "off"));
            }
            return connection;
        };
        try (BackfillHarness harness = BackfillHarness.over(db)
                .connections(source)
                .definitions(Counters.custom(4))
                .open()) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
            Map<String, String> before = harness.row(Counters.ID);
            readOnly.set(true);
            assertThat(worker.step()).isEqualTo(new Waits(Counters.ID, Waiting.Reason.READ_ONLY));
            assertThat(worker.step()).isEqualTo(new Waits(Counters.ID, Waiting.Reason.READ_ONLY));
            assertThat(harness.worker("b").step()).isNotInstanceOf(Committed.class);
            assertThatThrownBy(() -> harness.pause(Counters.ID)).isInstanceOf(BackfillUnavailableException.class);
            assertThat(harness.row(Counters.ID)).isEqualTo(before);
            assertThat(harness.show(Counters.ID).waiting().reason()).isEqualTo(Waiting.Reason.READ_ONLY);
            assertThat(Counters.hits(db)).isEqualTo("1111000000");
            readOnly.set(false);
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
        }
    }

    @Test
    void a_restored_backfill_takes_a_new_barrier_with_a_new_clock() throws Exception { // SR-6
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.set(4));
                Connection later = db.connection();
                Statement statement = later.createStatement()) {
            harness.start(Counters.ID);
            later.setAutoCommit(false);
            statement.execute("update counters set amount = 2 where id = 10");
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Waits(Counters.ID, Waiting.Reason.START_BARRIER));
            worker.vanish();
            // As a dump brings it to a new server, long after.
            db.execute("update backfill set barrier_system = 1, bound_xmax = 9000000000,"
                    + " barrier_since = now() - interval '9 days', claim_expires_at = now() - interval '1 second'");
            HarnessWorker restored = harness.worker("b");
            assertThat(restored.step()).isEqualTo(new Waits(Counters.ID, Waiting.Reason.START_BARRIER));
            assertThat(db.queryBoolean("select bound_xmax < 9000000000 and barrier_system <> 1 from backfill"))
                    .isTrue();
            later.commit();
            assertThat(restored.step()).isInstanceOf(Committed.class);
        }
    }

    @Test
    void a_barrier_that_was_passed_is_passed_for_good() throws Exception { // SR-6
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.set(4));
                Connection later = db.connection();
                Statement statement = later.createStatement()) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
            later.setAutoCommit(false);
            statement.execute("create table unrelated ()");
            db.execute("update backfill set barrier_timeline = 99, bound_xmax = 9000000000");
            assertThat(worker.step()).isInstanceOf(Committed.class);
        }
    }

    private static Claim claim(List<String> checkpoint, BackfillState state, int timeline) {
        return new Claim(
                Counters.ID,
                1,
                state,
                3,
                new UUID(0, 1),
                "a",
                List.of("10"),
                null,
                checkpoint,
                1,
                0,
                false,
                new History(7, timeline));
    }

    @Test
    void a_batch_landed_only_if_the_checkpoint_is_its_own_in_the_same_history() { // AT-3
        Claim before = claim(List.of("4"), BackfillState.RUNNING, 1);
        Work work = new Work(List.of("8"), 4, 4);
        assertThat(verdict(before, work, "8", 1)).isEqualTo(Verdict.LANDED);
        assertThat(verdict(before, work, "4", 1)).isEqualTo(Verdict.ROLLED_BACK);
        assertThat(verdict(before, work, "2", 1)).as("set back").isEqualTo(Verdict.HISTORY_CHANGED);
        assertThat(verdict(before, work, "8", 2)).isEqualTo(Verdict.HISTORY_CHANGED);
        assertThat(verdict(before, work, "4", 2)).isEqualTo(Verdict.HISTORY_CHANGED);
        assertThat(verdict(before, null, "8", 1)).as("moved, not by the batch").isEqualTo(Verdict.HISTORY_CHANGED);
        assertThat(verdict(before, null, "4", 1)).isEqualTo(Verdict.ROLLED_BACK);
        Work last = new Work(List.of("10"), 2, 2);
        assertThat(Settlement.verdict(before, last, claim(List.of("10"), BackfillState.VALIDATING, 1)))
                .isEqualTo(Verdict.LANDED);
    }

    private static Verdict verdict(Claim before, @Nullable Work work, String now, int timeline) {
        return Settlement.verdict(before, work, claim(List.of(now), BackfillState.RUNNING, timeline));
    }
}
