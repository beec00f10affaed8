package dev.backfill;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.function.Executable;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A repair holds every call of its chain, or is refused; a definition's builder makes one definition (VA-3). */
class RepairTest {

    private static BackfillDefinition.Builder<Long> some() {
        return Backfill.define("some").over("t", Keys.bigint("id")).validate(Validation.noRowMatches("a IS NULL"));
    }

    private static void refused(Executable call, String... parts) {
        assertThatThrownBy(call::execute)
                .isInstanceOf(InvalidDefinitionException.class)
                .hasMessageContainingAll(parts);
    }

    @Test
    void several_sets_and_the_condition_are_all_kept_in_their_order() {
        UpdateRepair update =
                Repair.update().set("b", "1").where("b IS NULL").set("a", "2").set("c", "3");
        assertThat(update.assignments().keySet()).containsExactly("b", "a", "c");
        assertThat(update.condition()).contains("b IS NULL");
        assertThat(some().repair(update).build().repair()).isSameAs(update);
    }

    @Test
    void several_written_columns_and_read_ones_are_all_kept() {
        RowRepair rows = Repair.rows()
                .reading("x")
                .writing("a", r -> 1)
                .reading("y", "x")
                .writing("b", r -> 2);
        assertThat(rows.reads()).containsExactly("x", "y");
        assertThat(rows.writes().keySet()).containsExactly("a", "b");
    }

    @Test
    @SuppressWarnings("CheckReturnValue") // the mistake under test
    void a_call_whose_result_is_dropped_is_refused_by_name() {
        UpdateRepair update = Repair.update().set("a", "1");
        update.set("b", "2");
        refused(() -> some().repair(update), ".set(\"b\", …)", "lost");
        RowRepair rows = Repair.rows().writing("a", r -> 1);
        rows.where("a IS NULL");
        refused(() -> some().repair(rows), ".where(…)", "lost");
        StatementRepair statement = Repair.statement("DELETE FROM x USING {window} AS w WHERE x.id = w.id");
        statement.unlocked();
        refused(() -> some().repair(statement), ".unlocked()", "lost");
        DeleteRepair delete = Repair.delete();
        delete.where("a");
        refused(() -> some().repair(delete), ".where(…)", "lost");
    }

    @Test
    @SuppressWarnings("CheckReturnValue") // the mistake under test
    void a_step_that_two_calls_continue_is_refused_at_the_second() {
        UpdateRepair update = Repair.update().set("a", "1");
        update.set("b", "2");
        refused(() -> update.where("a IS NULL"), ".set(\"b\", …)", ".where(…)");
    }

    @Test
    void a_call_that_was_refused_continues_nothing() {
        UpdateRepair update = Repair.update().set("a", "1");
        refused(() -> update.set("a", "2"), "column a twice");
        assertThat(some().repair(update.where("a IS NULL")).build()).isNotNull();
    }

    @Test
    void a_part_that_is_named_twice_is_refused() {
        refused(() -> Repair.update().where("a").where("b"), "'where' twice");
        refused(() -> Repair.update().from("p").from("q"), "'from' twice");
        refused(() -> Repair.update().on("p").on("q"), "'on' twice");
        refused(() -> Repair.rows().where("a").where("b"), "'where' twice");
        refused(() -> Repair.rows().writing("a", r -> 1).writing("a", r -> 2), "column a twice");
        refused(() -> Repair.delete().where("a").where("b"), "'where' twice");
    }

    @Test
    void a_repair_without_its_main_part_is_refused() {
        refused(() -> some().repair(Repair.update().where("a")), "sets no column");
        refused(() -> some().repair(Repair.rows().reading("a")), "writes no column");
        refused(() -> some().repair(Repair.delete()), "every row");
        refused(() -> some().repair(Repair.update().set("a", "1").from("p")), ".from(...)", ".on(...)");
        refused(() -> some().repair(Repair.update().set("a", "1").on("p.id = t.id")), ".from(...)", ".on(...)");
    }

    @ParameterizedTest
    @ValueSource(strings = {"SELECT 1 FROM {window}", "TRUNCATE x -- {window}", "{window}", "VACUUM {window}"})
    void a_statement_that_changes_nothing_is_refused(String sql) {
        refused(() -> Repair.statement(sql), "one INSERT, UPDATE, DELETE or MERGE");
    }

    @Test
    void a_statement_that_ignores_its_window_is_refused() { // BB-1
        refused(() -> Repair.statement("INSERT INTO copy SELECT * FROM t"), "does not mention {window}", "AS w");
    }

    @Test
    void a_builder_that_has_made_its_definition_makes_no_other() {
        BackfillDefinition.Builder<Long> builder = some().repair(Repair.update().set("a", "1"));
        assertThat(builder.build()).isNotNull();
        Consumer<Executable> refused = call -> refused(call, "has made its definition");
        refused.accept(builder::build);
        refused.accept(() -> builder.batchSize(1));
        refused.accept(() -> builder.label("a", "b"));
        refused.accept(() -> builder.validate(Validation.noRowMatches("a")));
        refused.accept(() -> builder.validate(tx -> ValidationOutcome.holds()));
        refused.accept(() -> builder.requires("t", "c"));
        refused.accept(() -> builder.requires("t", "c", "text"));
        refused.accept(() -> builder.pacing(Pacing.unlimited()));
        refused.accept(builder::shipsWithWritePath);
        refused.accept(builder::withoutStartBarrier);
        refused.accept(() -> builder.repair(Repair.update().set("b", "1")));
    }
}
