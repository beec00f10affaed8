package dev.backfill.postgres.kind;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Family;
import dev.backfill.KeyType;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * A family walked by several workers of two hosts. The repair adds one to every row of a window and has no condition, so a row that two
 * parts see, or none, shows.
 */
@PostgresTest
class FamilyWalkIT {

    private static final int PARTS = 4;
    private static final int ROWS = 203;

    private final TestDatabase db;

    FamilyWalkIT(TestDatabase db) {
        this.db = db;
    }

    @AfterEach
    void nothing_is_left() {
        db.clear();
    }

    /** The shapes that a key may have. */
    enum Shape {
        BIGINT("id bigint primary key", "(g * 7 - 400)", Keys.bigint("id"), "id::text", "id"),
        UUID("id uuid primary key", "md5(g::text)::uuid", Keys.uuid("id"), "id::text", "id"),
        NUMERIC("id numeric primary key", "(g::numeric / 7 - 10)", Keys.numeric("id"), "id::text", "id"),
        TEXT_ICU(
                "id text collate \"en-x-icu\" primary key",
                "(case g % 3 when 0 then 'é' when 1 then 'E' else 'e' end || g || case g % 2 when 0 then ' ''x\\' else '' end)",
                Keys.text("id", "en-x-icu"),
                "id",
                "id collate \"en-x-icu\""),
        TIES(
                "at timestamptz, id uuid, primary key (at, id)",
                "timestamptz '2024-01-01 00:00:00.123456Z' + (g / 70) * interval '1 second', md5(g::text)::uuid",
                Keys.compound(Keys.timestamptz("at"), Keys.uuid("id")),
                "at::text, id::text",
                "at, id"),
        PARTITIONED("id bigint primary key", "g", Keys.bigint("id"), "id::text", "id");

        private final String columns;
        private final String values;
        private final KeyType<?> key;
        private final String texts;
        private final String order;

        Shape(String columns, String values, KeyType<?> key, String texts, String order) {
            this.columns = columns;
            this.values = values;
            this.key = key;
            this.texts = texts;
            this.order = order;
        }

        void create(TestDatabase db, int rows) {
            boolean partitioned = this == PARTITIONED;
            db.execute("create table walked (hits int not null default 0, " + columns + ")"
                    + (partitioned ? " partition by range (id)" : ""));
            if (partitioned) {
                db.execute("create table walked_low partition of walked for values from (minvalue) to (30);"
                        + " create table walked_mid partition of walked for values from (30) to (150);"
                        + " create table walked_high partition of walked for values from (150) to (maxvalue)");
            }
            String names = columns.startsWith("at ") ? "at, id" : "id";
            db.execute("insert into walked (" + names + ") select " + values + " from generate_series(1, " + rows
                    + ") as g");
        }

        /** Every key, in PostgreSQL's order, as the library stores it. */
        List<String> keys(TestDatabase db) {
            return db.queryTexts("select array[" + texts + "]::text from walked order by " + order);
        }
    }

    private static <K> Family<K> hitting(KeyType<K> key, int parts) {
        return definition(key, 7).inRanges(parts);
    }

    private static <K> BackfillDefinition<K> definition(KeyType<K> key, int batchSize) {
        return Backfill.define("walked.hits.v1")
                .over("walked", key)
                .batchSize(batchSize)
                .repair(Repair.update().set("hits", "hits + 1").where("true"))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
    }

    private BackfillHarness host(Family<?> family, int workers) {
        return BackfillHarness.over(db)
                .definitions(family)
                .options(o -> o.workers(workers))
                .open();
    }

    private static void startAll(BackfillHarness host, Family<?> family) {
        family.forEach(part -> assertThat(host.start(part.id())).isInstanceOf(ActionOutcome.Applied.class));
    }

    private void awaitCompleted() {
        Eventually.within(Duration.ofMinutes(2))
                .holds(
                        "every part is completed",
                        () -> db.queryLong("select count(*) from backfill where state <> 'completed'") == 0);
    }

    private void assertEveryRowWasHitOnce(int rows) {
        assertThat(db.queryRows("select hits, count(*) from walked group by hits"))
                .containsExactly(Map.of("hits", "1", "count", String.valueOf(rows)));
    }

    @ParameterizedTest
    @EnumSource(Shape.class)
    void every_row_is_repaired_exactly_once_by_several_workers_of_two_hosts(Shape shape) { // SR-2, SR-3, CL-1, AT-1
        shape.create(db, ROWS);
        List<String> keys = shape.keys(db);
        Family<?> family = hitting(shape.key, PARTS);
        try (BackfillHarness one = host(family, 2);
                BackfillHarness other = host(family, 2)) {
            startAll(one, family);
            awaitCompleted();
            assertThat(other.show(family.parts().get(1).id()).state()).isEqualTo(BackfillState.COMPLETED);
        }
        assertEveryRowWasHitOnce(ROWS);
        assertThat(db.queryRows(
                        "select bound::text, range_low::text, rows_scanned, contract from backfill order by id"))
                .as("contiguous ranges of one size, through the last key")
                .containsExactly(
                        range(null, keys.get(49), 50),
                        range(keys.get(49), keys.get(100), 51),
                        range(keys.get(100), keys.get(151), 51),
                        range(keys.get(151), keys.get(202), 51));
    }

    private static Map<String, String> range(String low, String bound, int scanned) {
        Map<String, String> range = new LinkedHashMap<>();
        range.put("bound", bound);
        range.put("range_low", low);
        range.put("rows_scanned", String.valueOf(scanned));
        range.put("contract", "2");
        return range;
    }

    @ParameterizedTest
    @EnumSource(
            value = Shape.class,
            names = {"UUID", "PARTITIONED"})
    void a_large_table_is_divided_by_a_sample_of_its_pages_and_still_repaired_exactly_once(Shape shape) { // SR-1, BB-1
        int rows = 2_000;
        shape.create(db, 0);
        db.execute("alter table walked add column padding text");
        for (String leaf :
                shape == Shape.PARTITIONED ? List.of("walked_low", "walked_mid", "walked_high") : List.of("walked")) {
            db.execute("alter table " + leaf + " alter column padding set storage plain");
        }
        // A row fills a page, so that there are more pages than are read whole.
        db.execute("insert into walked (id, padding) select " + shape.values + ", repeat('x', 6000)"
                + " from generate_series(1, " + rows + ") as g");
        Family<?> family = definition(shape.key, 500).inRanges(PARTS);
        try (BackfillHarness host = host(family, 3)) {
            startAll(host, family);
            awaitCompleted();
        }
        assertEveryRowWasHitOnce(rows);
        List<String> scanned = db.queryTexts("select rows_scanned::text from backfill order by id");
        assertThat(scanned)
                .hasSize(PARTS)
                .allSatisfy(part -> assertThat(Long.parseLong(part)).isBetween(rows / PARTS / 2L, rows / PARTS * 2L));
        assertThat(db.queryLong("select array_length(splits, 1) from backfill_family"))
                .isEqualTo(PARTS - 1);
    }

    @Test
    void rows_that_come_after_the_first_start_belong_to_nobody_even_if_other_parts_start_later() { // SR-1, SR-5
        Shape.BIGINT.create(db, 20);
        Family<?> family = hitting(Keys.bigint("id"), PARTS);
        try (BackfillHarness host = host(family, 0)) {
            host.start(family.parts().get(2).id());
            db.execute("insert into walked (id) select 100000 + g from generate_series(1, 100) as g");
            startAllBut(host, family, 2);
            family.forEach(part -> host.runToCompletion(part.id()));
        }
        assertThat(db.queryLong("select sum(hits) from walked where id < 100000"))
                .isEqualTo(20);
        assertThat(db.queryLong("select sum(hits) from walked where id > 100000"))
                .isZero();
        assertThat(db.queryLong("select count(distinct bound_captured_at) from backfill"))
                .isEqualTo(1);
    }

    private static void startAllBut(BackfillHarness host, Family<?> family, int started) {
        for (int i = 0; i < family.parts().size(); i++) {
            if (i != started) {
                host.start(family.parts().get(i).id());
            }
        }
    }

    @Test
    void an_empty_source_gives_every_part_an_explicit_empty_range_and_completes_it() { // LC-5
        Shape.TIES.create(db, 0);
        Family<?> family = hitting(Shape.TIES.key, PARTS);
        try (BackfillHarness host = host(family, 0)) {
            startAll(host, family);
            db.execute("insert into walked (at, id) values (now(), md5('late')::uuid)");
            family.forEach(part -> host.runToCompletion(part.id()));
        }
        assertThat(db.queryLong(
                        "select count(*) from backfill where bound_empty and bound is null and range_low is null"
                                + " and state = 'completed' and rows_scanned = 0"))
                .isEqualTo(PARTS);
        assertThat(db.queryLong("select sum(hits) from walked")).isZero();
    }

    @Test
    void with_fewer_keys_than_parts_some_parts_are_empty_and_no_row_is_repaired_twice() { // LC-5, SR-3
        Shape.UUID.create(db, 3);
        Family<?> family = hitting(Shape.UUID.key, 10);
        try (BackfillHarness host = host(family, 0)) {
            startAll(host, family);
            // The empty ones first: one that began "from the beginning" would repair everything.
            List<BackfillId> last = new ArrayList<>();
            family.forEach(part -> last.add(0, part.id()));
            last.forEach(host::runToCompletion);
        }
        assertEveryRowWasHitOnce(3);
        assertThat(db.queryTexts("select rows_scanned::text from backfill order by id"))
                .containsExactly("1", "1", "1", "0", "0", "0", "0", "0", "0", "0");
        assertThat(db.queryLong("select count(*) from backfill where bound_empty"))
                .isEqualTo(7);
    }

    @Test
    void a_part_whose_owner_vanished_is_taken_over_in_its_own_range() { // CL-4, CL-5
        Shape.TIES.create(db, ROWS);
        Family<?> family = hitting(Shape.TIES.key, PARTS);
        BackfillId second = family.parts().get(1).id();
        try (BackfillHarness host = host(family, 0)) {
            host.start(second);
            HarnessWorker first = host.worker("a");
            assertThat(first.step()).isInstanceOf(Committed.class);
            first.vanish();
            host.expireLease(second);
            host.runToCompletion(second);
            assertThat(db.queryLong("select sum(hits) from walked")).isEqualTo(51);
            assertThat(db.queryLong("select max(hits) from walked")).isEqualTo(1);
            family.forEach(part -> host.runToCompletion(part.id()));
        }
        assertEveryRowWasHitOnce(ROWS);
    }

    @Test
    void the_first_batch_of_a_part_begins_at_its_range_and_not_at_the_first_key() { // CL-5,
        // SR-3
        Shape.BIGINT.create(db, ROWS);
        Family<?> family = hitting(Keys.bigint("id"), PARTS);
        BackfillId last = family.parts().get(PARTS - 1).id();
        try (BackfillHarness host = host(family, 0)) {
            host.start(last);
            HarnessWorker worker = host.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
        }
        assertThat(db.queryTexts("select id::text from walked where hits = 1 order by id"))
                .isEqualTo(Shape.BIGINT.keys(db).subList(152, 159).stream()
                        .map(key -> key.replaceAll("[{}]", ""))
                        .toList());
        assertThat(Objects.requireNonNull(db.queryText("select range_low[1] from backfill where id = ?", last.value())))
                .isEqualTo(Shape.BIGINT.keys(db).get(151).replaceAll("[{}]", ""));
    }
}
