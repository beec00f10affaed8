package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Family;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.ValidationOutcome;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Rehearsal;
import dev.backfill.operate.ValidationReport;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.Race;
import dev.backfill.testkit.TestDatabase;
import java.sql.ResultSet;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What keeps the parts of a family apart: one capture, one division, windows and proofs that look at no neighbour. */
@PostgresTest
class FamilyGuardsIT {

    private final TestDatabase db;

    FamilyGuardsIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void twelve_rows() {
        db.clear();
        Counters.fresh(db, 12);
    }

    /** Rows 1 to 4, 5 to 8 and 9 to 12. */
    private static Family<Long> thirds() {
        return Counters.custom(3).inRanges(3);
    }

    private BackfillHarness open(Family<?> family) {
        return BackfillHarness.over(db).definitions(family).open();
    }

    private static BackfillId part(int index) {
        return Family.partId(Counters.ID, index);
    }

    @Test
    void a_part_repairs_and_validates_its_own_range_and_nothing_of_its_neighbours() { // SR-3, VA-2
        try (BackfillHarness harness = open(thirds())) {
            harness.runToCompletion(part(1));
            assertThat(Counters.hits(db)).isEqualTo("000011110000");
            assertThat(harness.state(part(1))).isEqualTo(BackfillState.COMPLETED);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"set", "row", "custom"})
    void every_style_of_repair_keeps_to_its_range(String style) { // SR-3, AT-1
        BackfillDefinition<Long> whole = switch (style) {
            case "set" -> Counters.set(3);
            case "row" -> Counters.row(3);
            default -> Counters.custom(3);
        };
        try (BackfillHarness harness = open(whole.inRanges(3))) {
            harness.runToCompletion(part(2));
            assertThat(Counters.hits(db)).isEqualTo("000000001111");
            harness.runToCompletion(part(0));
            assertThat(Counters.hits(db)).isEqualTo("111100001111");
            harness.runToCompletion(part(1));
            assertThat(Counters.hits(db)).isEqualTo("111111111111");
        }
    }

    @Test
    void a_row_that_can_not_be_repaired_at_the_beginning_of_a_range_is_named() { // RB-4
        db.execute("update counters set amount = 0 where id = 5");
        BackfillDefinition<Long> whole = Counters.over(Counters.ID.value())
                .batchSize(4)
                .repair(Repair.update().set("hits", "hits + 1 / amount").where("true"))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
        try (BackfillHarness harness = open(whole.inRanges(3))) {
            harness.start(part(1));
            StepOutcome outcome = Counters.lastStep(harness.worker("a"));
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            StepOutcome.Ended.class,
                            ended -> assertThat(ended.diagnostic().message()).contains("Key (id = 5)"));
            db.execute("update counters set amount = 1 where id = 5");
            harness.retry(part(1));
            harness.runToCompletion(part(1));
        }
        assertThat(Counters.hits(db)).isEqualTo("000011110000");
    }

    @Test
    void a_rehearsal_of_a_part_stays_in_its_range_before_and_after_its_start() { // SR-3
        List<Long> seen = new ArrayList<>();
        Family<Long> family = Counters.custom(2, (batch, tx) -> {
                    seen.addAll(batch.keys());
                    return 0;
                })
                .inRanges(3);
        db.execute("analyze counters");
        try (BackfillHarness harness = open(family)) {
            harness.start(part(0));
            rehearse(harness);
            assertThat(harness.state(part(1))).isEqualTo(BackfillState.PENDING);
            harness.start(part(1));
            rehearse(harness);
        }
        assertThat(seen).isNotEmpty().allSatisfy(key -> assertThat(key).isBetween(5L, 8L));
        assertThat(Counters.hits(db)).isEqualTo("000000000000");
    }

    private static void rehearse(BackfillHarness harness) {
        Rehearsal.Outcome outcome = harness.operations()
                .rehearse(new OperatorRequest(part(1), BackfillHarness.newRequestId(), BackfillHarness.OPERATOR, null));
        assertThat(outcome).isInstanceOfSatisfying(Rehearsal.Outcome.Rehearsed.class, rehearsed -> {
            assertThat(rehearsed.report().samples())
                    .extracting(s -> s.position())
                    .contains("first", "last");
            assertThat(Objects.requireNonNull(rehearsed.report().projection()).rows())
                    .isEqualTo(4);
        });
    }

    @Test
    void a_validation_rejects_an_unrepaired_row_of_its_own_range_and_ignores_a_neighbour_s() { // VA-2, EV-1, EV-3
        try (BackfillHarness harness = open(thirds())) {
            for (int i = 0; i < 3; i++) {
                harness.runToCompletion(part(i));
            }
            for (int broken : new int[] {4, 9}) {
                db.execute("update counters set hits = 0 where id = ?", (long) broken);
                assertThat(harness.validate(part(1))).isInstanceOf(ValidationReport.Success.class);
                db.execute("update counters set hits = 1 where id = ?", (long) broken);
            }
            for (int broken : new int[] {5, 8}) {
                db.execute("update counters set hits = 0 where id = ?", (long) broken);
                assertThat(harness.validate(part(1))).isInstanceOf(ValidationReport.Failure.class);
                assertThat(harness.validate(part(0))).isInstanceOf(ValidationReport.Success.class);
                assertThat(harness.validate(part(2))).isInstanceOf(ValidationReport.Success.class);
                db.execute("update counters set hits = 1 where id = ?", (long) broken);
            }
        }
    }

    @Test
    void an_own_proof_is_told_both_ends_of_its_range_and_given_a_condition_for_it() { // VA-2
        List<String> seen = new ArrayList<>();
        Family<Long> family = Counters.over(Counters.ID.value())
                .repair((batch, tx) -> 0)
                .validate(tx -> {
                    try (Statement statement = tx.connection().createStatement();
                            ResultSet row = statement.executeQuery(
                                    "select string_agg(c.id::text, ' ' order by c.id) from counters as c where "
                                            + tx.withinBound("c"))) {
                        row.next();
                        seen.add(tx.after().map(String::valueOf).orElse("start") + " to "
                                + tx.bound().map(String::valueOf).orElse("none") + ": " + row.getString(1));
                    }
                    return ValidationOutcome.holds();
                })
                .build()
                .inRanges(3);
        try (BackfillHarness harness = open(family)) {
            family.forEach(part -> harness.runToCompletion(part.id()));
        }
        assertThat(seen).containsExactly("start to 4: 1 2 3 4", "4 to 8: 5 6 7 8", "8 to 12: 9 10 11 12");
    }

    @Test
    void starts_of_all_parts_at_once_converge_on_one_capture() throws Exception { // SR-1, CT 1
        int parts = 20;
        Family<Long> family = Counters.custom(3).inRanges(parts);
        try (BackfillHarness one = open(family);
                BackfillHarness other = open(family)) {
            List<ActionOutcome> outcomes = Race.of(parts).run(number -> {
                // Rows that come meanwhile, so that two captures would differ.
                db.execute("insert into counters (id) select max(id) + 1 from counters on conflict do nothing");
                return (number % 2 == 0 ? one : other).start(part(number));
            });
            assertThat(outcomes).allSatisfy(o -> assertThat(o).isInstanceOf(ActionOutcome.Applied.class));
        }
        assertThat(db.queryLong("select count(*) from backfill_family")).isEqualTo(1);
        assertThat(db.queryLong("select count(*) from backfill where range_parts = 20 and contract = 2"))
                .isEqualTo(parts);
        // Each range begins where the one before it ends, and the last one that is not empty ends at the captured
        // bound.
        assertThat(db.queryLong(
                        "select count(*) from (select range_low, lag(bound) over (order by id) as before, bound_empty"
                                + " from backfill) as r where not bound_empty and range_low is distinct from before"))
                .isZero();
        assertThat(db.queryTexts("select max(bound[1]::bigint)::text from backfill"))
                .isEqualTo(db.queryTexts("select bound[1] from backfill_family"));
    }

    @Test
    void another_number_of_parts_is_refused_and_nothing_is_divided_anew() { // ID-4, SR-1
        try (BackfillHarness three = open(thirds())) {
            three.start(part(0));
        }
        List<Map<String, String>> stored = db.queryRows("select * from backfill_family");
        try (BackfillHarness four = open(Counters.custom(3).inRanges(4))) {
            for (int i = 1; i < 4; i++) {
                assertThat(four.start(part(i))).isInstanceOfSatisfying(ActionOutcome.Conflict.class, conflict -> {
                    assertThat(conflict.code()).isEqualTo(ConflictCode.PREFLIGHT_FAILED);
                    assertThat(conflict.findings())
                            .singleElement()
                            .satisfies(f -> assertThat(f.code().wireName()).isEqualTo("family_parts_changed"))
                            .satisfies(f -> assertThat(f.message()).contains("3 parts", "into 4", "new ID"));
                });
                assertThat(four.state(part(i))).isEqualTo(BackfillState.PENDING);
                assertThat(four.operations()
                                .preflight(BackfillHarness.OPERATOR, part(i))
                                .errors())
                        .extracting(finding -> finding.code().wireName())
                        .contains("family_parts_changed");
            }
        }
        assertThat(db.queryRows("select * from backfill_family")).isEqualTo(stored);
    }

    @Test
    void a_started_part_is_left_alone_by_a_process_that_divides_otherwise() { // ID-5
        try (BackfillHarness three = open(thirds())) {
            three.start(part(1));
        }
        BackfillDefinition<Long> whole = Counters.over(part(1).value())
                .repair((batch, tx) -> Counters.count(tx, batch.keys()))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
        try (BackfillHarness four = open(Counters.custom(3).inRanges(4));
                BackfillHarness plain = BackfillHarness.on(db, whole)) {
            for (BackfillHarness stranger : List.of(four, plain)) {
                assertThat(stranger.worker("w").step()).isEqualTo(new StepOutcome.NothingToDo());
                assertThat(stranger.show(part(1)).knownHere()).isFalse();
                assertThat(stranger.validate(part(1)))
                        .isInstanceOfSatisfying(
                                ValidationReport.CurrentState.class,
                                report -> assertThat(report.reason()).isEqualTo(ValidationReport.Reason.UNKNOWN_HERE));
            }
        }
        assertThat(Counters.hits(db)).isEqualTo("000000000000");
        try (BackfillHarness three = open(thirds())) {
            three.runToCompletion(part(1));
        }
        assertThat(Counters.hits(db)).isEqualTo("000011110000");
    }

    private static void assertStartedAlone(ActionOutcome outcome) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        ActionOutcome.Conflict.class,
                        conflict -> assertThat(conflict.findings())
                                .extracting(finding -> finding.code().wireName())
                                .containsExactly("family_part_started_alone"));
    }

    /** A part's ID for a repair of everything. */
    private static BackfillDefinition<Long> wholeUnderAPartsId() {
        return Counters.over(part(1).value())
                .repair((batch, tx) -> Counters.count(tx, batch.keys()))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
    }

    @Test
    void a_part_that_was_started_as_the_whole_source_keeps_the_family_from_starting() { // ID-4, AT-3
        try (BackfillHarness plain = BackfillHarness.on(db, wholeUnderAPartsId())) {
            plain.start(part(1));
        }
        try (BackfillHarness family = open(thirds())) {
            assertStartedAlone(family.start(part(0)));
            assertThat(family.worker("w").step()).isEqualTo(new StepOutcome.NothingToDo());
        }
        assertThat(db.queryLong("select count(*) from backfill_family")).isZero();
    }

    @Test
    void a_whole_under_a_parts_id_is_refused_once_the_family_was_started() { // ID-4
        try (BackfillHarness family = open(thirds())) {
            family.start(part(0));
        }
        try (BackfillHarness plain = BackfillHarness.on(db, wholeUnderAPartsId())) {
            assertStartedAlone(plain.start(part(1)));
            assertThat(plain.state(part(1))).isEqualTo(BackfillState.PENDING);
        }
    }

    @Test
    void a_family_under_the_id_of_a_whole_that_was_started_is_refused() { // ID-4, SC-4
        try (BackfillHarness plain = BackfillHarness.on(db, Counters.custom(3))) {
            plain.runToCompletion(Counters.ID);
        }
        try (BackfillHarness family = open(thirds())) {
            assertStartedAlone(family.start(part(0)));
        }
    }

    @Test
    void a_part_is_paused_resumed_and_retried_in_its_own_range() { // LC-4
        try (BackfillHarness harness = open(thirds())) {
            harness.start(part(2));
            harness.worker("a").step();
            for (BackfillAction action : List.of(BackfillAction.PAUSE, BackfillAction.RESUME)) {
                assertThat(harness.perform(action, part(2))).isInstanceOf(ActionOutcome.Applied.class);
            }
            harness.runToCompletion(part(2));
            assertThat(Counters.hits(db)).isEqualTo("000000001111");
            assertThat(harness.row(part(2))).containsEntry("range_low", "{8}").containsEntry("bound", "{12}");
            assertThat(harness.show(part(2)).bound().after()).containsExactly("8");
            assertThat(harness.show(part(2)).family()).isEqualTo(Counters.ID);
            assertThat(harness.show(part(0)).family()).isEqualTo(Counters.ID);
        }
    }

    @Test
    void what_was_started_under_another_division_is_not_rehearsed_either() { // ID-5
        try (BackfillHarness harness = open(Counters.custom(3).inRanges(2))) {
            harness.start(part(0));
        }
        try (BackfillHarness harness = open(Counters.custom(3).inRanges(5))) {
            assertThat(harness.operations()
                            .rehearse(new OperatorRequest(part(0), "rehearse-it", BackfillHarness.OPERATOR, null)))
                    .isInstanceOfSatisfying(
                            Rehearsal.Outcome.Refused.class,
                            refused -> assertThat(refused.conflict().code()).isEqualTo(ConflictCode.UNKNOWN_HERE));
            assertThat(harness.show(part(0)).knownHere()).isFalse();
            assertThat(harness.validate(part(0)))
                    .isInstanceOfSatisfying(
                            ValidationReport.CurrentState.class,
                            report -> assertThat(report.reason()).isEqualTo(ValidationReport.Reason.UNKNOWN_HERE));
            assertThat(harness.worker("a").step()).isInstanceOf(StepOutcome.NothingToDo.class);
        }
        assertThat(Counters.hits(db)).isEqualTo("000000000000");
    }

    @Test
    void a_whole_and_a_part_that_are_started_at_once_are_not_both_started() throws Exception { // ID-4
        BackfillDefinition<Long> whole = Counters.over(part(0).value())
                .batchSize(4)
                .repair(Repair.update().set("hits", "hits + 1").where("true"))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
        Gate commit = new Gate();
        try (BackfillHarness alone = BackfillHarness.over(db)
                        .definitions(whole)
                        .audit((tx, entry) -> commit.hold())
                        .open();
                BackfillHarness divided = open(thirds())) {
            // Its row is started, and not committed yet: nobody else sees it.
            CompletableFuture<ActionOutcome> first = CompletableFuture.supplyAsync(() -> alone.start(part(0)));
            commit.awaitArrival();
            CompletableFuture<ActionOutcome> second = CompletableFuture.supplyAsync(() -> divided.start(part(1)));
            Eventually.until(
                    "the part waits for the whole",
                    () -> second.isDone()
                            || db.queryLong("select count(*) from pg_locks where locktype = 'advisory' and not granted")
                                    == 1);
            assertThat(second).isNotDone();
            commit.open();
            assertThat(first.get(30, TimeUnit.SECONDS)).isInstanceOf(ActionOutcome.Applied.class);
            assertThat(second.get(30, TimeUnit.SECONDS)).isNotInstanceOf(ActionOutcome.Applied.class);
            assertThat(divided.start(part(1)))
                    .isInstanceOfSatisfying(
                            ActionOutcome.Conflict.class,
                            conflict -> assertThat(conflict.code()).isEqualTo(ConflictCode.PREFLIGHT_FAILED));
        }
    }
}
