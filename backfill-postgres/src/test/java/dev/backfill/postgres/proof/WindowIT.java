package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Keys;
import dev.backfill.Pacing;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.spi.ConnectionSource;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import dev.backfill.testkit.WarmConnections;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.function.IntFunction;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The window: strictly after the checkpoint, not beyond the bound, in order, no larger than declared. In each authoring style. */
@PostgresTest
class WindowIT {

    private final TestDatabase db;

    WindowIT(TestDatabase db) {
        this.db = db;
    }

    enum Style {
        SET(Counters::set),
        ROW(Counters::row),
        CUSTOM(Counters::custom);

        final IntFunction<BackfillDefinition<Long>> definition;

        Style(IntFunction<BackfillDefinition<Long>> definition) {
            this.definition = definition;
        }
    }

    @ParameterizedTest
    @EnumSource
    void each_window_begins_after_the_last_and_holds_no_more_than_declared(Style style) { // SR-3, SR-7, BB-1
        Counters.fresh(db, 0);
        // Against the order of keys, so that a window without an order of its own would take the wrong rows.
        db.execute("insert into counters (id) select g from generate_series(10, 1, -1) as g");
        try (BackfillHarness harness = BackfillHarness.on(db, style.definition.apply(4))) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
            assertThat(Counters.hits(db)).isEqualTo("1111000000");
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
            assertThat(Counters.hits(db)).isEqualTo("1111111100");
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 2, 2, true));
            assertThat(Counters.hits(db)).isEqualTo("1111111111");
        }
    }

    @Test
    void a_trigger_of_the_statement_fires_once_a_batch_whatever_the_plan() { // AT-1
        Counters.fresh(db, 4);
        db.execute("create table if not exists fired (n int); truncate fired;"
                + " create or replace function fires() returns trigger language plpgsql as $$ begin"
                + " insert into fired values (1); return null; end $$;"
                + " create trigger fires after update on counters for each statement execute function fires()");
        try (BackfillHarness harness = BackfillHarness.on(db, nobody())) {
            harness.start(Counters.ID);
            assertThat(harness.worker("a").step()).isInstanceOf(Committed.class);
            assertThat(db.queryText("select count(*) from fired")).isEqualTo("1");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_pool_gets_its_connection_back_as_it_was(Style style) throws SQLException { // BB-2
        Counters.fresh(db, 10);
        try (WarmConnections pool = new WarmConnections(db, 1)) {
            String before = settings(pool);
            try (BackfillHarness harness = BackfillHarness.over(db)
                    .connections(pool)
                    .definitions(style.definition.apply(4))
                    .open()) {
                harness.start(Counters.ID);
                HarnessWorker worker = harness.worker("a");
                assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
                assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
            }
            assertThat(settings(pool)).isEqualTo(before);
        }
    }

    /** All of one session's. */
    private static String settings(ConnectionSource pool) throws SQLException {
        try (Connection connection = pool.get();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select string_agg(name || '=' || setting, chr(10)"
                        + " order by name) || coalesce(current_setting('backfill.page', true), '') from pg_settings")) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void what_a_trigger_runs_is_planned_as_ever() { // AT-1
        Counters.fresh(db, 10);
        db.execute("create table if not exists planned (loops text); truncate planned;"
                + " create or replace function notes() returns trigger language plpgsql as $$ begin"
                + " insert into planned values (current_setting('enable_nestloop')); return new; end $$;"
                + " create trigger notes before update on counters for each row execute function notes()");
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.row(4))) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
            assertThat(worker.step()).isInstanceOf(Committed.class);
            assertThat(db.queryTexts("select loops from planned")).hasSize(8).containsOnly("on");
        }
    }

    @Test
    void what_a_session_brings_along_is_not_taken_for_the_end_of_a_window() { // BB-1, SR-3
        Counters.fresh(db, 10);
        try (BackfillHarness harness = bringingAPage(nobody())) {
            harness.start(Counters.ID);
            assertThat(harness.worker("a").step()).isEqualTo(new Committed(Counters.ID, 4, 0, false));
            assertThat(harness.row(Counters.ID)).containsEntry("checkpoint", "{4}");
        }
    }

    @Test
    void what_a_session_brings_along_is_not_taken_for_the_end_of_an_empty_window() { // SR-3, SR-7
        Counters.fresh(db, 10);
        try (BackfillHarness harness = bringingAPage(Counters.set(4))) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
            db.execute("delete from counters where id > 4");
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 0, 0, true));
        }
    }

    /** Its sessions begin with a window's end, 4 keys up to 9, which no batch has put there; a pooler takes no such options. */
    private BackfillHarness bringingAPage(BackfillDefinition<?> definition) {
        String url = db.directUrl() + (db.directUrl().contains("?") ? "&" : "?")
                + "options=-c%20backfill.page%3D4%5C%20%7B9%7D";
        return BackfillHarness.over(db)
                .connections(() -> DriverManager.getConnection(url))
                .definitions(definition)
                .open();
    }

    private static BackfillDefinition<Long> nobody() {
        return Counters.over(Counters.ID.value())
                .batchSize(4)
                .repair(Repair.update().set("hits", "hits + 1").where("false"))
                .pacing(Pacing.unlimited().targetBatchTime(Duration.ofMinutes(1)))
                .validate(Validation.noRowMatches("hits <> 0"))
                .build();
    }

    @Test
    void a_condition_that_no_row_can_meet_still_moves_the_checkpoint() { // SR-7: the plan has no need to look for
        // the window's end
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.on(db, nobody())) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 0, false));
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 6, 0, true));
        }
    }

    @ParameterizedTest
    @EnumSource
    void rows_beyond_the_bound_belong_to_others(Style style) { // SR-1, SR-5, VA-2
        Counters.fresh(db, 6);
        try (BackfillHarness harness = BackfillHarness.on(db, style.definition.apply(4))) {
            harness.start(Counters.ID);
            db.execute("insert into counters (id) values (7), (8)");
            harness.runToCompletion(Counters.ID);
            assertThat(Counters.hits(db)).isEqualTo("11111100");
            assertThat(harness.row(Counters.ID)).containsEntry("bound", "{6}").containsEntry("checkpoint", "{6}");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_new_owner_goes_on_strictly_after_the_checkpoint(Style style) { // CL-5, SR-3
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.on(db, style.definition.apply(4))) {
            harness.start(Counters.ID);
            HarnessWorker a = harness.worker("a");
            assertThat(a.step()).isInstanceOf(Committed.class);
            a.vanish();
            assertThat(harness.worker("b").step()).isEqualTo(new StepOutcome.NothingToDo());
            harness.expireLease(Counters.ID);
            assertThat(harness.worker("b").step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
            assertThat(Counters.hits(db)).isEqualTo("1111111100");
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_bound_row_that_was_deleted_ends_the_source_at_the_bound(Style style) { // SR-7
        Counters.fresh(db, 8);
        try (BackfillHarness harness = BackfillHarness.on(db, style.definition.apply(4))) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
            db.execute("delete from counters where id > 4");
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 0, 0, true));
            assertThat(harness.row(Counters.ID))
                    .containsEntry("checkpoint", "{8}")
                    .containsEntry("state", "validating");
        }
    }

    @Test
    void an_empty_match_moves_the_checkpoint() { // SR-7
        Counters.fresh(db, 10);
        var never = Counters.over(Counters.ID.value())
                .batchSize(4)
                .repair(Repair.update().set("hits", "hits + 1").where("id > 8"))
                .pacing(Pacing.unlimited().targetBatchTime(Duration.ofMinutes(1)))
                .validate(Validation.noRowMatches("id > 8 and hits <> 1"))
                .build();
        try (BackfillHarness harness = BackfillHarness.on(db, never)) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 0, false));
            // After a window in which no row needed it, the next one looks further.
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 6, 2, true));
        }
    }

    @Test
    void a_custom_repair_is_given_its_keys_in_order_and_each_once() { // SR-2, AT-3
        Counters.fresh(db, 0);
        db.execute("insert into counters (id) select g from generate_series(9, 1, -1) as g");
        List<Long> seen = new ArrayList<>();
        var definition = Counters.custom(4, (batch, tx) -> {
            seen.addAll(batch.keys());
            return 0;
        });
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.runToCompletion(Counters.ID);
        }
        assertThat(seen).containsExactly(1L, 2L, 3L, 4L, 5L, 6L, 7L, 8L, 9L);
    }

    @Test
    void ties_are_broken_by_the_rest_of_the_key() { // SR-2
        Counters.fresh(db, 0);
        db.execute("drop table if exists tied");
        db.execute("create table tied (at timestamptz not null, id int not null, hits int not null default 0,"
                + " primary key (at, id))");
        db.execute(
                "insert into tied select timestamptz '2024-01-01 00:00:00.000001Z', g from generate_series(7, 1, -1) as g");
        var definition = Backfill.define("tied.hits.v1")
                .over("tied", Keys.compound(Keys.timestamptz("at"), Keys.integer("id")))
                .batchSize(2)
                .repair(Repair.update().set("hits", "hits + 1").where("true"))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.runToCompletion(definition.id());
            assertThat(db.queryLong("select count(*) from tied where hits = 1")).isEqualTo(7);
            assertThat(harness.row(definition.id())).containsEntry("batches", "4");
        }
    }

    @Test
    void a_row_that_a_function_looks_at_is_locked_until_it_is_written_back() { // AT-1
        Counters.fresh(db, 4);
        List<String> others = new ArrayList<>();
        var definition = Counters.over(Counters.ID.value())
                .batchSize(4)
                .repair(Repair.rows().reading("id").writing("hits", row -> {
                    try {
                        db.execute("set local lock_timeout = '100ms'; update counters set hits = 7 where id = 1");
                        others.add("wrote");
                    } catch (IllegalStateException e) {
                        others.add("waited");
                    }
                    return 1;
                }))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(Counters.ID);
            assertThat(harness.worker("a").step()).isInstanceOf(Committed.class);
            assertThat(others).containsOnly("waited");
            assertThat(Counters.hits(db)).isEqualTo("1111");
        }
    }
}
