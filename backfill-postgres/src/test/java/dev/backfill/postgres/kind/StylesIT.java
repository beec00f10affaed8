package dev.backfill.postgres.kind;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** SQL over the window in all its styles: what each changes, counts, locks and leaves alone. */
@PostgresTest
class StylesIT {

    private static final BackfillId ID = BackfillId.of("children.style.v1");

    private final TestDatabase db;

    StylesIT(TestDatabase db) {
        this.db = db;
    }

    /** Ten children; the parent of every third is unknown. */
    @BeforeEach
    void parents_and_children() {
        db.clear();
        db.execute("create table parents (id int primary key, tenant text);"
                + " create table children (id bigint primary key, parent_id int, tenant text, tags int[] not null default '{}',"
                + " document json);"
                + " create table mentions (child_id bigint, tag int, primary key (child_id, tag));"
                + " insert into parents select g, 'tenant ' || g from generate_series(1, 3) as g;"
                + " insert into children (id, parent_id, tags) select g, case when g % 3 = 0 then 99 else g % 3 end,"
                + " array[g, g + 1] from generate_series(1, 10) as g");
    }

    private static BackfillDefinition.Builder<Long> inFours() {
        return Backfill.define(ID.value()).over("children", Keys.bigint("id")).batchSize(4);
    }

    private static BackfillDefinition<Long> proven(BackfillDefinition.Builder<Long> builder, String counterexample) {
        return builder.validate(Validation.noRowMatches(counterexample)).build();
    }

    private BackfillHarness started(BackfillDefinition<?> definition) {
        BackfillHarness harness = BackfillHarness.on(db, definition);
        harness.start(ID);
        return harness;
    }

    private static BackfillDefinition<Long> lookup() {
        return proven(
                inFours()
                        .repair(Repair.update()
                                .set("tenant", "p.tenant")
                                .from("parents AS p")
                                .on("p.id = children.parent_id")),
                "false");
    }

    @Test
    void a_lookup_leaves_rows_without_a_match_alone() { // SR-7
        db.execute("update children set tenant = 'kept' where id = 3");
        try (BackfillHarness harness = started(lookup())) {
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(ID, 4, 3, false));
            assertThat(worker.step()).isEqualTo(new Committed(ID, 4, 3, false));
            assertThat(worker.step()).isEqualTo(new Committed(ID, 2, 1, true));
        }
        assertThat(db.queryText("select string_agg(coalesce(right(tenant, 1), '-'), '' order by id) from children"))
                .isEqualTo("12t12-12-1");
    }

    @Test
    void a_row_whose_values_would_not_change_is_not_rewritten_whatever_the_condition_says() { // SR-7
        db.execute("update children set document = '{\"a\": 1}'");
        BackfillDefinition<Long> unchanged = proven(
                inFours()
                        .repair(Repair.update()
                                .set("tenant", "(select p.tenant from parents as p where p.id = parent_id)")
                                .set("document", "'{\"a\": 1}'")
                                .where("tenant is null")),
                "false");
        try (BackfillHarness harness = started(unchanged)) {
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(ID, 4, 3, false));
            assertThat(worker.step()).isEqualTo(new Committed(ID, 4, 3, false));
        }
        assertThat(db.queryLong("select count(*) from children where tenant is null and id <= 8"))
                .isEqualTo(2);
    }

    @Test
    void an_author_may_have_unchanged_rows_rewritten() { // SR-7
        BackfillDefinition<Long> same =
                proven(inFours().repair(Repair.update().set("tenant", "tenant").rewriteUnchanged()), "false");
        try (BackfillHarness harness = started(same)) {
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(ID, 4, 4, false));
            assertThat(worker.step()).isEqualTo(new Committed(ID, 4, 4, false));
        }
    }

    @Test
    void an_expression_is_not_evaluated_for_a_row_that_the_condition_leaves_out() { // RB-4
        db.execute("update children set tenant = 'x' where id = 2; update children set tenant = '7' where id <> 2");
        BackfillDefinition<Long> casting = proven(
                inFours()
                        .repair(Repair.update()
                                .set("parent_id", "tenant::int")
                                .where("regexp_replace(tenant, '[0-9]', '') = ''")),
                "false");
        try (BackfillHarness harness = started(casting)) {
            assertThat(harness.worker("a").step()).isEqualTo(new Committed(ID, 4, 3, false));
        }
    }

    @Test
    void a_value_that_is_equal_and_not_the_same_is_written() { // VA-1
        db.execute("alter table children add amount numeric; update children set amount = 1.0");
        BackfillDefinition<Long> scaled = proven(
                inFours().repair(Repair.update().set("amount", "1.00").where("id > 0")), "amount::text <> '1.00'");
        try (BackfillHarness harness = started(scaled)) {
            harness.runToCompletion(ID);
        }
        assertThat(db.queryLong("select count(*) from children where amount::text = '1.00'"))
                .isEqualTo(10);
    }

    @Test
    void a_statement_takes_its_rows_from_the_window_and_counts_what_it_changed() { // SR-7, BB-1
        db.execute("insert into mentions values (2, 2)");
        BackfillDefinition<Long> copying = proven(
                inFours()
                        .repair(Repair.statement(
                                "INSERT INTO mentions (child_id, tag) SELECT w.id, t.tag FROM {window} AS w,"
                                        + " unnest(w.tags) AS t (tag) ON CONFLICT DO NOTHING")),
                "NOT EXISTS (SELECT FROM mentions AS m WHERE m.child_id = children.id)");
        try (BackfillHarness harness = started(copying)) {
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(ID, 4, 7, false));
            assertThat(db.queryLong("select count(*) from mentions where child_id > 4"))
                    .isZero();
            assertThat(worker.step()).isEqualTo(new Committed(ID, 4, 8, false));
            assertThat(worker.step()).isEqualTo(new Committed(ID, 2, 4, true));
            assertThat(worker.step()).isEqualTo(new StepOutcome.Completed(ID));
        }
        assertThat(db.queryLong("select count(*) from mentions")).isEqualTo(20);
    }

    @Test
    void a_statement_may_begin_with_a_clause_of_its_own() {
        BackfillDefinition<Long> recursive = proven(
                inFours()
                        .repair(Repair.statement(
                                "WITH RECURSIVE n (i) AS (VALUES (1) UNION ALL SELECT i + 1 FROM n WHERE i < 3)"
                                        + " INSERT INTO mentions SELECT w.id, n.i FROM {window} AS w, n")),
                "false");
        try (BackfillHarness harness = started(recursive)) {
            assertThat(harness.worker("a").step()).isEqualTo(new Committed(ID, 4, 12, false));
        }
    }

    @Test
    void a_merge_is_a_statement_too() {
        assumeTrue(db.queryLong("select current_setting('server_version_num')::int") >= 150_000, "MERGE is of 15");
        BackfillDefinition<Long> merging = proven(
                inFours()
                        .repair(Repair.statement("MERGE INTO parents AS p USING {window} AS w ON p.id = w.id"
                                + " WHEN MATCHED THEN UPDATE SET tenant = 'merged'"
                                + " WHEN NOT MATCHED THEN INSERT VALUES (w.id, 'new')")),
                "false");
        try (BackfillHarness harness = started(merging)) {
            harness.runToCompletion(ID);
        }
        assertThat(db.queryLong("select count(*) from parents where tenant = 'merged'"))
                .isEqualTo(3);
        assertThat(db.queryLong("select count(*) from parents where tenant = 'new'"))
                .isEqualTo(7);
    }

    @Test
    void a_statement_that_changes_more_rows_of_the_source_than_its_window_holds_is_rolled_back() { // BB-6, SR-5
        BackfillDefinition<Long> reaching = proven(
                inFours()
                        .repair(
                                Repair.statement(
                                        "UPDATE children SET tenant = 'all' WHERE EXISTS (SELECT FROM {window} AS w WHERE w.id > 0)")),
                "false");
        try (BackfillHarness harness = started(reaching)) {
            assertThat(harness.worker("a").step())
                    .isInstanceOfSatisfying(
                            StepOutcome.Ended.class,
                            ended -> assertThat(ended.diagnostic().code())
                                    .isEqualTo(DiagnosticCode.WINDOW_EXCEEDED.wireName()));
        }
        assertThat(db.queryLong("select count(*) from children where tenant = 'all'"))
                .isZero();
    }

    @Test
    void a_statement_that_takes_no_row_from_the_window_is_rolled_back() { // BB-6
        BackfillDefinition<Long> ignoring = proven(
                inFours()
                        .repair(Repair.statement("INSERT INTO mentions SELECT g, 1 FROM generate_series(1, 9) AS g"
                                + " WHERE true OR EXISTS (SELECT FROM {window} AS w)")),
                "false");
        try (BackfillHarness harness = started(ignoring)) {
            assertThat(harness.worker("a").step()).isInstanceOf(StepOutcome.Ended.class);
        }
        assertThat(db.queryLong("select count(*) from mentions")).isZero();
    }

    @Test
    void an_empty_match_of_a_statement_moves_the_checkpoint() { // SR-7
        BackfillDefinition<Long> nobody = proven(
                inFours()
                        .repair(Repair.statement("INSERT INTO mentions SELECT w.id, 1 FROM {window} AS w WHERE false")),
                "false");
        try (BackfillHarness harness = started(nobody)) {
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(ID, 4, 0, false));
            assertThat(worker.step()).isEqualTo(new Committed(ID, 4, 0, false));
            assertThat(worker.step()).isEqualTo(new Committed(ID, 2, 0, true));
        }
    }

    @Test
    void the_rows_that_a_statement_reads_can_t_be_changed_before_it_commits() throws Exception { // AT-1
        // A dual write of its own keeps the copies; one that comes in between must wait, or be seen.
        db.execute("create table copies (id bigint primary key, tenant text)");
        db.execute("update children set tenant = 'old'");
        BackfillDefinition<Long> copying = proven(
                inFours()
                        .repair(Repair.statement("INSERT INTO copies SELECT w.id, w.tenant FROM {window} AS w"
                                + " ON CONFLICT (id) DO UPDATE SET tenant = excluded.tenant")),
                "false");
        try (BackfillHarness harness = BackfillHarness.over(db)
                        .definitions(copying)
                        .options(options -> options.lockTimeout(Duration.ofMillis(900)))
                        .open();
                Connection writer = db.get();
                Statement statement = writer.createStatement()) {
            harness.start(ID);
            HarnessWorker worker = harness.worker("a");
            Eventually.until("the start barrier is passed", () -> worker.step() instanceof Committed);
            writer.setAutoCommit(false);
            statement.execute("update children set tenant = 'new' where id = 6; delete from children where id = 7");
            Future<StepOutcome> step = worker.stepAside();
            Eventually.until(
                    "the statement waits for the rows",
                    () -> step.isDone()
                            || db.queryBoolean(
                                    "select exists (select 1 from pg_stat_activity where wait_event_type = 'Lock'"
                                            + " and application_name like 'backfill #%')"));
            assertThat(step).isNotDone();
            writer.commit();
            assertThat(step.get(60, TimeUnit.SECONDS)).isInstanceOf(Committed.class);
        }
        assertThat(db.queryText("select string_agg(id || tenant, ' ' order by id) from copies"))
                .isEqualTo("1old 2old 3old 4old 5old 6new 8old");
    }

    @Test
    void a_delete_deletes_within_its_window_and_counts() { // SR-7, BB-1
        BackfillDefinition<Long> retention =
                proven(inFours().repair(Repair.delete().where("parent_id = 99")), "parent_id = 99");
        try (BackfillHarness harness = started(retention)) {
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(ID, 4, 1, false));
            assertThat(db.queryLong("select count(*) from children where parent_id = 99"))
                    .isEqualTo(2);
            worker.close();
            harness.runToCompletion(ID);
        }
        assertThat(db.queryLong("select count(*) from children")).isEqualTo(7);
    }
}
