package dev.backfill.postgres.kind;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.params.provider.Arguments.arguments;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.CompoundKey;
import dev.backfill.KeyType;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.postgres.kind.SentStatements.Sent;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The cursor and plan faults: what a window costs, from the first to the last, with the statements that are really sent. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class WindowPlanIT {

    private static final int ROWS = 200_000;
    private static final int BATCH = 500;

    private final TestDatabase db;

    WindowPlanIT(TestDatabase db) {
        this.db = db;
    }

    /** What another walk left behind is not this one's cost. */
    @BeforeEach
    void vacuumed() {
        db.execute("vacuum analyze big");
    }

    /** One row in 40,000 needs the repair; the other keys are in no order that the heap has. */
    @BeforeAll
    void a_large_table() {
        db.execute("""
                create table big (id bigint not null, day date not null, code text collate "C" not null, uid uuid not null,
                  filler text not null, mark int)""");
        db.execute(
                "insert into big select g, date '2020-01-01' + (hashint4(g) & 1023), md5(g::text), md5('u' || g)::uuid,"
                        + " repeat('x', 100), case when g % 40000 = 0 then null else 1 end from generate_series(1, "
                        + ROWS
                        + ") as g");
        db.execute("alter table big add primary key (id); create unique index on big (uid);"
                + " create unique index on big (day, code); create unique index on big (code)");
    }

    private static <K> BackfillDefinition<K> sparse(String id, KeyType<K> key) {
        return Backfill.define(id)
                .over("big", key)
                .batchSize(BATCH)
                .repair(Repair.update().set("mark", "2").where("mark IS NULL"))
                .validate(Validation.noRowMatches("mark IS NULL"))
                .build();
    }

    /** Steps at the beginning and after each tenth of the keys; the repairs that were sent. */
    private List<Sent> sentAlongTheWay(BackfillDefinition<?> definition, String keyTexts, String order) {
        SentStatements sent = new SentStatements(db);
        List<Sent> all = new ArrayList<>();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(definition)
                .connections(sent)
                // Step by step, each statement is sent by itself and can be explained.
                .options(o -> o.fusedCommit(false))
                .open()) {
            harness.start(definition.id());
            for (int tenth = 0; tenth < 10; tenth++) {
                if (tenth > 0) {
                    harness.tamper(
                            definition.id(),
                            "checkpoint",
                            db.queryText(
                                    "select array[" + keyTexts + "]::text from big order by " + order
                                            + " offset ? limit 1",
                                    ROWS / 10 * tenth));
                }
                try (HarnessWorker worker = harness.worker("w" + tenth)) {
                    assertThat(worker.step()).isInstanceOf(Committed.class);
                }
                all.addAll(sent.take());
            }
        }
        return all;
    }

    private void staysFlat(List<Sent> sent, long most) throws Exception {
        assertThat(sent).as("one at each tenth, at least").hasSizeGreaterThanOrEqualTo(10);
        for (boolean generic : List.of(false, true)) {
            for (Sent statement : sent) {
                Plan plan = statement.explain(db, generic);
                assertThat(plan.readsWholeTable()).as("%s", plan).isFalse();
                assertThat(plan.indexConditions()).as("%s", plan).isPositive();
                assertThat(plan.blocks())
                        .as("blocks of %s plan%n%s", generic ? "the generic" : "a custom", plan)
                        .isLessThan(most);
            }
        }
    }

    @Test
    void a_sparse_predicate_costs_the_same_from_the_first_window_to_the_last() throws Exception { // SR-7
        staysFlat(sentAlongTheWay(sparse("big.id.v1", Keys.bigint("id")), "id::text", "id"), 200);
    }

    @Test
    void a_key_in_no_order_of_the_heap_is_walked_through_its_index() throws Exception { // SR-2, SR-7
        staysFlat(sentAlongTheWay(sparse("big.uid.v1", Keys.uuid("uid")), "uid::text", "uid"), 4L * BATCH);
    }

    @Test
    void a_compound_key_is_walked_through_its_index() throws Exception { // SR-2, SR-7
        KeyType<CompoundKey> key = Keys.compound(Keys.date("day"), Keys.text("code"));
        staysFlat(sentAlongTheWay(sparse("big.day.v1", key), "day::text, code", "day, code"), 4L * BATCH);
    }

    @Test
    void a_text_key_is_walked_through_its_index() throws Exception { // SR-2, SR-7
        staysFlat(sentAlongTheWay(sparse("big.code.v1", Keys.text("code")), "code", "code"), 4L * BATCH);
    }

    /** Even where the server's costs speak for reading the whole table. */
    private void keepsToTheIndex(Sent writeBack) throws Exception {
        Plan plan = new Sent("set local random_page_cost = 1000; " + writeBack.sql(), writeBack.parameters())
                .explain(db, false);
        assertThat(plan.readsWholeTable()).as("%s", plan).isFalse();
    }

    private static Stream<Arguments> keysAndOrders() {
        return Stream.of(
                arguments("id", Keys.bigint("id"), "id::text", "id"),
                arguments("uid", Keys.uuid("uid"), "uid::text", "uid"),
                arguments("code", Keys.text("code"), "code", "code"),
                arguments("day", Keys.compound(Keys.date("day"), Keys.text("code")), "day::text, code", "day, code"));
    }

    @ParameterizedTest
    @MethodSource("keysAndOrders")
    void a_row_repair_walks_through_the_index_and_writes_back_in_one_pass(
            String name, KeyType<?> key, String keyTexts, String order) throws Exception { // SR-2, SR-7
        BackfillDefinition<?> definition = Backfill.define("big.row." + name + ".v1")
                .over("big", key)
                .batchSize(BATCH)
                .repair(Repair.rows().reading("mark").writing("mark", row -> 3).where("id % 10 = 0"))
                .validate(Validation.noRowMatches("false"))
                .build();
        List<Sent> sent = sentAlongTheWay(definition, keyTexts, order);
        staysFlat(sent, 4L * BATCH);
        keepsToTheIndex(sent.get(sent.size() - 1));
        // Before the first checkpoint the range has one end only, which the planner takes for a third of the table.
        for (Sent later : sent.subList(2, sent.size())) {
            Plan plan = later.explain(db, true);
            assertThat(plan.lines()).as("%s", plan).noneMatch(line -> line.contains("Nested Loop"));
        }
    }

    @Test
    void an_empty_match_moves_the_checkpoint_and_counts_what_it_scanned() { // SR-7
        BackfillDefinition<Long> definition = sparse("big.empty.v1", Keys.bigint("id"));
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(definition.id());
            assertThat(harness.worker("a").step()).isEqualTo(new Committed(definition.id(), BATCH, 0, false));
            assertThat(harness.show(definition.id()).checkpoint()).containsExactly(String.valueOf(BATCH));
        }
    }
}
