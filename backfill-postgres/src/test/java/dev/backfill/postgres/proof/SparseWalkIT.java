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
import dev.backfill.host.EngineOptions;
import dev.backfill.host.StepOutcome;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Windows that look at more keys than they may repair (SR-7): none is missed, none is repaired twice, none beyond the bounds. */
@PostgresTest
class SparseWalkIT {

    private static final BackfillId ID = BackfillId.of("sparse.v1");
    private static final int ROWS = 2_000;
    private static final int MOST = 8;

    private final TestDatabase db;

    SparseWalkIT(TestDatabase db) {
        this.db = db;
    }

    /** One in fifty needs the repair, and all of a stretch in the middle; hits says how often each was repaired. */
    @BeforeEach
    void few_rows_in_need() {
        db.clear();
        db.execute("""
                create table sparse (id bigint primary key, code text collate "C" not null unique, uid uuid not null unique,
                  day int not null, needs boolean not null, hits int not null default 0, unique (day, code));
                create table held (id int)""");
        db.execute(
                "insert into sparse select g, md5(g::text), md5('u' || g)::uuid, hashint4(g) & 7, g % 50 = 0 or g between 900 and 960"
                        + " from generate_series(" + ROWS + ", 1, -1) as g; analyze sparse");
        db.execute("create or replace function waits(bigint) returns boolean volatile language plpgsql as $$ begin"
                + " while exists (select from held) loop perform pg_sleep(0.01); end loop;"
                + " return true; end $$");
    }

    private static <K> BackfillDefinition.Builder<K> over(KeyType<K> key) {
        return Backfill.define(ID.value())
                .over("sparse", key)
                .batchSize(MOST)
                // However slow the machine.
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

    private static <K> BackfillDefinition<K> rows(KeyType<K> key) {
        return over(key)
                .repair(Repair.rows()
                        .reading("hits")
                        .writing("hits", row -> Long.parseLong(String.valueOf(row.text("hits"))) + 1)
                        .writing("needs", row -> false)
                        .where("needs"))
                .build();
    }

    private static <K> BackfillDefinition<K> delete(KeyType<K> key) {
        return over(key).repair(Repair.delete().where("needs")).build();
    }

    static Stream<Arguments> walks() {
        return Stream.of(
                arguments("by a number, one UPDATE", update(Keys.bigint("id")), ""),
                arguments("by text, one UPDATE", update(Keys.text("code", "C")), ""),
                arguments("by uuid, one UPDATE", update(Keys.uuid("uid")), ""),
                arguments(
                        "by a compound key, one UPDATE",
                        update(Keys.compound(Keys.integer("day"), Keys.text("code", "C"))),
                        ""),
                arguments("beside a trigger, one UPDATE", update(Keys.bigint("id")), "trigger"),
                arguments(
                        "beside a trigger, by a compound key",
                        update(Keys.compound(Keys.integer("day"), Keys.text("code", "C"))),
                        "trigger"),
                arguments("by a number, Java functions", rows(Keys.bigint("id")), ""),
                arguments(
                        "by a compound key, Java functions",
                        rows(Keys.compound(Keys.integer("day"), Keys.text("code", "C"))),
                        ""),
                arguments("by a number, DELETE", delete(Keys.bigint("id")), ""),
                arguments("by uuid, DELETE", delete(Keys.uuid("uid")), ""));
    }

    private BackfillHarness harness(BackfillDefinition<?> definition, Consumer<EngineOptions.Builder> options) {
        return BackfillHarness.over(db).definitions(definition).options(options).open();
    }

    private static List<Committed> walk(BackfillHarness harness) {
        harness.start(ID);
        try (HarnessWorker worker = harness.worker("a")) {
            return rest(worker);
        }
    }

    private static List<Committed> rest(HarnessWorker worker) {
        List<Committed> batches = new ArrayList<>();
        while (batches.isEmpty() || !batches.get(batches.size() - 1).boundReached()) {
            StepOutcome step = worker.step();
            assertThat(step).isInstanceOf(Committed.class);
            batches.add((Committed) step);
        }
        return batches;
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("walks")
    void a_window_looks_further_where_few_rows_need_it_and_changes_no_more_than_declared(
            String name, BackfillDefinition<?> definition, String beside) { // SR-7, BB-1
        if (!beside.isEmpty()) {
            db.execute(
                    "create or replace function nothing() returns trigger language plpgsql as $$ begin return new; end $$;"
                            + " create trigger nothing before update on sparse for each row execute function nothing()");
        }
        long inNeed = db.queryLong("select count(*) from sparse where needs");
        try (BackfillHarness harness = harness(definition, o -> {})) {
            List<Committed> batches = walk(harness);
            assertThat(batches).allSatisfy(b -> assertThat(b.rowsChanged()).isLessThanOrEqualTo(MOST));
            assertThat(batches.stream().mapToLong(Committed::rowsChanged).sum()).isEqualTo(inNeed);
            assertThat(batches.stream().mapToLong(Committed::rowsScanned).sum()).isEqualTo(ROWS);
            // Windows of eight keys would be 250.
            assertThat(batches).hasSizeLessThan(80);
            assertThat(db.queryLong("select count(*) from sparse where needs or hits > 1"))
                    .isZero();
            assertThat(db.queryLong("select coalesce(sum(hits), 0) from sparse"))
                    .isIn(inNeed, 0L);
            harness.runToCompletion(ID);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_dense_stretch_is_gone_over_in_windows_of_the_declared_size(boolean fused) { // SR-7
        db.execute("update sparse set needs = id > 1000");
        try (BackfillHarness harness = harness(update(Keys.bigint("id")), o -> o.fusedCommit(fused))) {
            List<Committed> batches = walk(harness);
            List<Committed> dense =
                    batches.stream().filter(b -> b.rowsChanged() > 0).toList();
            assertThat(dense).hasSize(ROWS / 2 / MOST);
            assertThat(dense.subList(2, dense.size()))
                    .allSatisfy(b -> assertThat(b.rowsScanned()).isEqualTo(MOST));
            assertThat(db.queryLong("select count(*) from sparse where hits <> (id > 1000)::int"))
                    .isZero();
        }
    }

    /** With windows that look at hundreds of keys. */
    private static HarnessWorker farIn(BackfillHarness harness) {
        harness.start(ID);
        HarnessWorker worker = harness.worker("a");
        long seen = 0;
        while (seen < 200) {
            seen = ((Committed) worker.step()).rowsScanned();
        }
        return worker;
    }

    private static BackfillDefinition<Long> waiting() {
        return over(Keys.bigint("id"))
                .repair(Repair.update()
                        .set("hits", "hits + 1")
                        .set("needs", "false")
                        .where("needs and waits(id)"))
                .build();
    }

    @Test
    void a_row_that_somebody_repairs_while_the_window_looks_is_left_alone() throws Exception { // AT-3, SR-7
        try (BackfillHarness harness = harness(
                waiting(), o -> o.statementTimeout(Duration.ofSeconds(9)).transactionTimeout(Duration.ofSeconds(9)))) {
            HarnessWorker worker = farIn(harness);
            db.execute("insert into held values (1)");
            Future<StepOutcome> step = worker.stepAside();
            Eventually.until(
                    "the window looks",
                    () -> db.queryBoolean("select exists (select 1 from pg_stat_activity where wait_event = 'PgSleep'"
                            + " and application_name like 'backfill #%')"));
            long first = db.queryLong("select min(id) from sparse where needs");
            db.execute("update sparse set needs = false, hits = 1 where id in (" + first + ", " + (first + 50) + ");"
                    + " update sparse set day = 9 where id = " + (first + 100) + "; delete from held");
            assertThat(step.get(9, TimeUnit.SECONDS)).isInstanceOf(Committed.class);
            rest(worker);
            assertThat(db.queryLong("select count(*) from sparse where needs or hits > 1"))
                    .isZero();
            assertThat(db.queryLong("select hits from sparse where day = 9")).isEqualTo(1);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_repair_that_changes_more_rows_than_declared_is_a_breach_however_many_keys_were_looked_at(
            boolean fused) { // BB-1, BB-6
        db.execute("create or replace function others(bigint) returns int volatile language plpgsql as $$ begin"
                + " if $1 > 1000 then update sparse set day = day + 1 where id <= 12; end if; return 1; end $$");
        BackfillDefinition<Long> definition = over(Keys.bigint("id"))
                .repair(Repair.update()
                        .set("hits", "others(id)")
                        .set("needs", "false")
                        .where("needs"))
                .build();
        try (BackfillHarness harness = harness(definition, o -> o.fusedCommit(fused))) {
            harness.start(ID);
            HarnessWorker worker = harness.worker("a");
            StepOutcome step = worker.step();
            while (step instanceof Committed) {
                step = worker.step();
            }
            assertThat(harness.state(ID)).isEqualTo(BackfillState.BLOCKED);
            assertThat(harness.row(ID)).containsEntry("failure_code", DiagnosticCode.WINDOW_EXCEEDED.wireName());
            assertThat(db.queryLong("select count(*) from sparse where id > 1000 and hits > 0"))
                    .isZero();
        }
    }

    @Test
    void a_row_that_fails_in_a_longer_look_is_found_and_named() { // RB-4
        db.execute("alter table sparse add column n int not null default 1; update sparse set n = 0 where id = 1700");
        BackfillDefinition<Long> definition = over(Keys.bigint("id"))
                .repair(Repair.update()
                        .set("hits", "hits + 1 / n")
                        .set("needs", "false")
                        .where("needs"))
                .build();
        try (BackfillHarness harness = harness(definition, o -> {})) {
            harness.start(ID);
            HarnessWorker worker = harness.worker("a");
            StepOutcome step = worker.step();
            for (int i = 0; i < 200 && !(step instanceof StepOutcome.Ended); i++) {
                step = worker.step();
            }
            assertThat(harness.state(ID)).isEqualTo(BackfillState.BLOCKED);
            assertThat(harness.row(ID)).containsEntry("checkpoint", "{1699}");
            assertThat(String.valueOf(harness.row(ID).get("failure_message"))).contains("Key (id = 1700)");
            db.execute("update sparse set n = 1");
            harness.retry(ID);
            harness.runToCompletion(ID);
            assertThat(db.queryLong("select count(*) from sparse where needs or hits > 1"))
                    .isZero();
        }
    }

    @Test
    void a_key_that_is_an_array_is_looked_for_as_a_whole() { // SR-7, SR-2
        db.execute(
                "alter table sparse add column path int[]; update sparse set path = array_fill(id::int, array[1 + id::int % 2]);"
                        + " alter table sparse alter path set not null, add unique (path); analyze sparse");
        long inNeed = db.queryLong("select count(*) from sparse where needs");
        try (BackfillHarness harness = harness(update(Keys.of("path", "integer[]")), o -> {})) {
            List<Committed> batches = walk(harness);
            assertThat(batches.stream().mapToLong(Committed::rowsChanged).sum()).isEqualTo(inNeed);
            assertThat(batches).hasSizeLessThan(80);
            assertThat(db.queryLong("select count(*) from sparse where needs or hits > 1"))
                    .isZero();
        }
    }

    @Test
    void a_pace_in_rows_bounds_how_far_a_window_looks() { // SR-7
        db.execute("update sparse set needs = false");
        BackfillDefinition<Long> definition = over(Keys.bigint("id"))
                .pacing(Pacing.unlimited().rowsPerSecond(400).targetBatchTime(Duration.ofMinutes(1)))
                .repair(Repair.update().set("hits", "hits + 1").where("needs"))
                .build();
        try (BackfillHarness harness = harness(definition, o -> {})) {
            harness.start(ID);
            HarnessWorker worker = harness.worker("a");
            List<Long> scanned = new ArrayList<>();
            Eventually.until("four windows are over", () -> {
                if (worker.step() instanceof Committed batch) {
                    scanned.add(batch.rowsScanned());
                }
                return scanned.size() == 4;
            });
            assertThat(scanned).containsExactly(8L, 32L, 128L, 400L);
        }
    }
}
