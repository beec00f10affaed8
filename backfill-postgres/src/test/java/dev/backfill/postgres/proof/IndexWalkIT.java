package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.KeyType;
import dev.backfill.Keys;
import dev.backfill.Pacing;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.time.Duration;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A walk over the rows that an index names (SR-7): only where PostgreSQL's plan says so, and with a proof that goes another way. */
@PostgresTest
class IndexWalkIT {

    private static final BackfillId ID = BackfillId.of("indexed.v1");
    private static final int ROWS = 5_000;
    private static final int IN_NEED = 100;
    private static final int MOST = 8;

    private final TestDatabase db;

    IndexWalkIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void few_rows_in_need() {
        db.clear();
        db.execute("""
                create table indexed (id bigint primary key, day int not null, code text collate "C" not null, alive boolean not null default true,
                  needs boolean not null, hits int not null default 0, unique (day, code))""");
        db.execute(
                "insert into indexed select g, hashint4(g) & 7, md5(g::text), true, g % 50 = 0 from generate_series(1, "
                        + ROWS + ") as g");
    }

    private void index(String index) {
        db.execute("create index in_need on indexed " + index + "; analyze indexed");
    }

    private static <K> BackfillDefinition.Builder<K> over(KeyType<K> key) {
        return Backfill.define(ID.value())
                .over("indexed", key)
                .batchSize(MOST)
                .pacing(Pacing.unlimited().targetBatchTime(Duration.ofMinutes(1)))
                .validate(Validation.noRowMatches("needs"));
    }

    private static <K> BackfillDefinition<K> update(KeyType<K> key) {
        return over(key)
                .repair(Repair.update()
                        .set("hits", "hits + 1")
                        .set("needs", "false")
                        .where("needs"))
                .build();
    }

    static Stream<Arguments> walks() {
        KeyType<?> compound = Keys.compound(Keys.integer("day"), Keys.text("code", "C"));
        return Stream.of(
                arguments("one UPDATE", update(Keys.bigint("id")), "(id) where needs"),
                arguments("one UPDATE, by a compound key", update(compound), "(day, code) where needs"),
                arguments(
                        "DELETE",
                        over(Keys.bigint("id"))
                                .repair(Repair.delete().where("needs"))
                                .build(),
                        "(id) where needs"),
                arguments(
                        "Java functions",
                        over(Keys.bigint("id"))
                                .repair(Repair.rows()
                                        .reading("hits")
                                        .writing("hits", row -> Long.parseLong(String.valueOf(row.text("hits"))) + 1)
                                        .writing("needs", row -> false)
                                        .where("needs"))
                                .build(),
                        "(id) where needs"));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("walks")
    void rows_that_need_nothing_are_passed_over_unread_and_not_counted(
            String name, BackfillDefinition<?> definition, String index) { // SR-7, RM-2
        index(index);
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(ID);
            try (HarnessWorker worker = harness.worker("a")) {
                Committed first = (Committed) worker.step();
                assertThat(first.rowsScanned()).isEqualTo(MOST);
                assertThat(first.rowsChanged()).isEqualTo(MOST);
                assertThat(harness.show(ID).progress().fraction()).isNull();
                assertThat(harness.show(ID).progress().eta()).isNull();
            }
            harness.runToCompletion(ID);
            assertThat(harness.show(ID).progress().rowsScanned()).isEqualTo(IN_NEED);
            assertThat(harness.show(ID).progress().rowsTotal()).isNull();
            assertThat(db.queryLong("select count(*) from indexed where needs or hits > 1"))
                    .isZero();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"(day) where needs", "(id) where alive", "(id)", "(id desc, day) where needs and alive"})
    void an_index_that_does_not_name_just_those_rows_in_order_is_no_way_to_walk(String index) { // SR-7
        index(index);
        try (BackfillHarness harness = BackfillHarness.on(db, update(Keys.bigint("id")))) {
            harness.runToCompletion(ID);
            assertThat(harness.show(ID).progress().rowsScanned()).isEqualTo(ROWS);
            assertThat(harness.show(ID).progress().rowsTotal()).isEqualTo(ROWS);
            assertThat(db.queryLong("select sum(hits) from indexed")).isEqualTo(IN_NEED);
        }
    }

    @Test
    void a_source_without_a_row_in_need_ends_at_once() { // SR-7
        db.execute("update indexed set needs = false");
        index("(id) where needs");
        try (BackfillHarness harness = BackfillHarness.on(db, update(Keys.bigint("id")))) {
            harness.start(ID);
            try (HarnessWorker worker = harness.worker("a")) {
                assertThat(worker.step()).isEqualTo(new Committed(ID, 0, 0, true));
            }
            assertThat(harness.show(ID).progress().fraction()).isEqualTo(1.0);
            harness.runToCompletion(ID);
        }
    }

    @Test
    void an_index_that_lacks_a_row_does_not_hide_it_from_the_validation() { // VA-4
        index("(id) where needs");
        db.execute("update pg_index set indisready = false, indislive = false where indexrelid = 'in_need'::regclass");
        db.execute("insert into indexed (id, day, code, needs) values (99999, 1, 'hidden', true)");
        db.execute("update pg_index set indisready = true, indislive = true where indexrelid = 'in_need'::regclass");
        try (BackfillHarness harness = BackfillHarness.on(db, update(Keys.bigint("id")))) {
            harness.start(ID);
            HarnessWorker worker = harness.worker("a");
            StepOutcome last = worker.step();
            while (last instanceof Committed) {
                last = worker.step();
            }
            assertThat(last).isInstanceOf(StepOutcome.Ended.class);
            assertThat(harness.row(ID)).containsEntry("failure_code", "validation-rejected");
            assertThat(harness.row(ID)).containsEntry("rows_scanned", String.valueOf(IN_NEED));
        }
    }

    @Test
    void an_index_that_led_to_a_row_that_fails_is_left_until_that_row_is_found() { // RB-4
        db.execute(
                "alter table indexed add column n int not null default 1; update indexed set needs = id > 2000 and needs;"
                        + " update indexed set n = 0 where id = 2800");
        index("(id) where needs");
        BackfillDefinition<Long> definition = over(Keys.bigint("id"))
                .repair(Repair.update()
                        .set("hits", "hits + 1 / n")
                        .set("needs", "false")
                        .where("needs"))
                .build();
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(ID);
            int failed = 0;
            try (HarnessWorker worker = harness.worker("a")) {
                for (int i = 0; i < 500 && harness.state(ID) == BackfillState.RUNNING; i++) {
                    failed += worker.step() instanceof Committed ? 0 : 1;
                }
            }
            assertThat(String.valueOf(harness.row(ID).get("failure_message"))).contains("Key (id = 2800)");
            // Once by the index, then as often as eight can be halved, and once more for the one that is left.
            assertThat(failed).isLessThanOrEqualTo(6);
        }
    }

    @Test
    void a_repair_that_is_too_slow_for_what_the_index_names_is_tried_so_once() { // SR-7, BB-2
        index("(id) where needs");
        db.execute(
                "create function slow(int) returns int language plpgsql as $$ begin perform pg_sleep(0.1); return $1 + 1; end $$");
        BackfillDefinition<Long> definition = Backfill.define(ID.value())
                .over("indexed", Keys.bigint("id"))
                .batchSize(40)
                .validate(Validation.noRowMatches("needs"))
                .repair(Repair.update()
                        .set("hits", "slow(hits)")
                        .set("needs", "false")
                        .where("needs")
                        .rewriteUnchanged())
                .build();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(definition)
                .options(o -> o.lockTimeout(Duration.ofMillis(500)).statementTimeout(Duration.ofSeconds(2)))
                .open()) {
            harness.start(ID);
            int failed = 0;
            try (HarnessWorker worker = harness.worker("a")) {
                for (int i = 0; i < 15; i++) {
                    if (!(worker.step() instanceof Committed)) {
                        failed++;
                        harness.clearRetryDelay(ID);
                    }
                }
            }
            assertThat(failed).isEqualTo(1);
        }
    }

    @Test
    void a_row_that_fails_is_found_by_a_walk_over_every_key() { // RB-4
        index("(id) where needs");
        db.execute("alter table indexed add column n int not null default 1");
        db.execute("update indexed set n = 0 where id = 1700");
        BackfillDefinition<Long> definition = over(Keys.bigint("id"))
                .repair(Repair.update()
                        .set("hits", "hits + 1 / n")
                        .set("needs", "false")
                        .where("needs"))
                .build();
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(ID);
            try (HarnessWorker worker = harness.worker("a")) {
                for (int i = 0; i < 300 && harness.state(ID) == BackfillState.RUNNING; i++) {
                    worker.step();
                }
            }
            assertThat(harness.state(ID)).isEqualTo(BackfillState.BLOCKED);
            assertThat(String.valueOf(harness.row(ID).get("failure_message"))).contains("Key (id = 1700)");
            db.execute("update indexed set n = 1");
            harness.retry(ID);
            harness.runToCompletion(ID);
            assertThat(db.queryLong("select count(*) from indexed where needs or hits > 1"))
                    .isZero();
        }
    }
}
