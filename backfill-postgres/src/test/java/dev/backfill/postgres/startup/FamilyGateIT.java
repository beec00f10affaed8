package dev.backfill.postgres.startup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.BackfillDefinition;
import dev.backfill.Family;
import dev.backfill.InvalidDefinitionException;
import dev.backfill.host.Backfills;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.PostgresBackfills;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A family in the required set: its ID stands for all of its parts. */
@PostgresTest
class FamilyGateIT {

    private static final String ID = "items.family.v1";

    private final TestDatabase db;

    FamilyGateIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void forty_rows() {
        Host.items(db, 40);
    }

    private static Family<Long> family(int parts) {
        return Host.doubling(ID).inRanges(parts);
    }

    private BackfillHarness requiring(Family<?> family, int workers) {
        return BackfillHarness.over(db)
                .definitions(family)
                .requiredAtStartup(ID)
                .options(o -> o.workers(workers))
                .open();
    }

    @Test
    void every_part_of_a_required_family_starts_by_itself_and_gates_until_all_are_completed() { // CF-1, CF-2
        Family<Long> family = family(4);
        try (BackfillHarness idle = requiring(family, 0)) {
            family.forEach(part -> assertThat(idle.state(part.id())).isEqualTo(BackfillState.RUNNING));
            assertThat(reason(idle))
                    .contains("of the parts of family " + ID, "4 are running")
                    .doesNotContain(ID + ".00");
            assertThat(idle.operations().list(BackfillHarness.OPERATOR).required())
                    .hasSize(4);
        }
        try (BackfillHarness working = requiring(family, 2)) {
            Host.awaitOpen(working.backfills());
            assertThat(working.operations().list(BackfillHarness.OPERATOR).isOpen())
                    .isTrue();
        }
        assertThat(db.queryLong("select count(*) from items where doubled = n * 2"))
                .isEqualTo(40);
        assertThat(db.queryLong("select count(*) from backfill where state = 'completed'"))
                .isEqualTo(4);
    }

    @Test
    void a_single_part_that_is_not_completed_keeps_the_gate_closed() { // CF-1
        Family<Long> family = family(3);
        try (BackfillHarness harness =
                BackfillHarness.over(db).definitions(family).open()) {
            harness.runToCompletion(family.parts().get(0).id());
            harness.runToCompletion(family.parts().get(2).id());
        }
        try (BackfillHarness harness = requiring(family, 0)) {
            assertThat(reason(harness)).contains("of the parts of family " + ID, "1 is running");
        }
    }

    @Test
    void parts_that_were_completed_under_another_division_do_not_open_the_gate() { // CF-1, ID-4
        Family<Long> two = family(2);
        try (BackfillHarness harness = BackfillHarness.over(db).definitions(two).open()) {
            harness.runToCompletion(two.parts().get(0).id());
        }
        // What is divided into three has three parts; the first of two is none of them, however completed it is.
        try (BackfillHarness harness = requiring(family(3), 0)) {
            assertThat(reason(harness))
                    .contains(
                            "1 is completed, but the definition here has another range of keys",
                            "2 are pending (preflight_failed)");
            assertThat(harness.operations().list(BackfillHarness.OPERATOR).closedBy())
                    .hasSize(3)
                    .anySatisfy(r -> assertThat(r.code()).isEqualTo("unknown_here"));
        }
    }

    private static String reason(BackfillHarness harness) {
        String reason = harness.backfills().readiness().backfills().reason();
        assertThat(harness.backfills().readiness().isOpen()).isFalse();
        return String.valueOf(reason);
    }

    private Backfills.Builder host(BackfillDefinition<?>... definitions) {
        return PostgresBackfills.on(db).definitions(definitions).schema(SchemaMode.MIGRATE);
    }

    @Test
    void a_required_family_of_which_parts_are_missing_here_is_refused() { // CF-2
        List<BackfillDefinition<Long>> parts = family(3).parts();
        assertThatThrownBy(() ->
                        host(parts.get(0), parts.get(1)).requiredAtStartup(ID).startup())
                .isInstanceOf(InvalidDefinitionException.class)
                .hasMessageContaining(ID)
                .hasMessageContaining("3 parts, of which this process defines 2");
    }

    @Test
    void an_id_of_a_part_or_of_the_family_can_not_be_that_of_another_definition_of_the_process() { // ID-1
        for (String taken : List.of(ID, ID + ".02")) {
            assertThatThrownBy(() ->
                            host(Host.doubling(taken)).definitions(family(3)).startup())
                    .isInstanceOf(InvalidDefinitionException.class)
                    .hasMessageContaining("ID " + taken)
                    .hasMessageContaining("An ID names one repair");
        }
    }

    @Test
    void a_family_that_ships_with_its_write_path_is_refused_in_the_required_set() { // CF-7
        Family<Long> family = Host.draft(ID).shipsWithWritePath().build().inRanges(2);
        assertThatThrownBy(
                        () -> host().definitions(family).requiredAtStartup(ID).startup())
                .isInstanceOf(InvalidDefinitionException.class)
                .hasMessageContaining("ship with its write path");
    }
}
