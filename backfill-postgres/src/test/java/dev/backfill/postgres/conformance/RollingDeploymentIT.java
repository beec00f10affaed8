package dev.backfill.postgres.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.Race;
import dev.backfill.testkit.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Case 6: processes of different builds share one row; none takes precedence, and none touches what it does not know. */
class RollingDeploymentIT extends Case {

    private static final BackfillId OTHER = BackfillId.of("items.other.v1");

    RollingDeploymentIT(TestDatabase db) {
        super(db);
    }

    private static BackfillDefinition<Long> other() {
        return items(OTHER.value())
                .repair(Repair.update().set("hits", "hits").where("false"))
                .validate(Validation.noRowMatches("false"))
                .build();
    }

    private BackfillHarness process(String name, BackfillDefinition<?>... definitions) {
        return kept(BackfillHarness.over(db)
                .definitions(definitions)
                .processName(name)
                .open());
    }

    @Test
    void two_processes_share_one_row_whichever_registers_first() { // ID-1, ID-2
        BackfillHarness old = process("old", counted());
        BackfillHarness young = process("young", counted(), other());
        BackfillHarness oldAgain = process("old-again", counted());
        assertThat(db.queryTexts("SELECT id FROM backfill ORDER BY id")).containsExactly(ID.value(), OTHER.value());
        old.start(ID);
        HarnessWorker first = old.worker("w");
        assertThat(step(first)).isInstanceOf(StepOutcome.Committed.class);
        first.close();
        HarnessWorker second = young.worker("w");
        assertThat(step(second)).isInstanceOf(StepOutcome.Committed.class);
        second.close();
        oldAgain.runToCompletion(ID);
        assertEachRowOnce();
    }

    @ParameterizedTest
    @EnumSource(
            value = BackfillState.class,
            names = {"RUNNING", "PAUSED", "COMPLETED"})
    void registering_again_changes_nothing_that_was_achieved(BackfillState reached) { // ID-2, LC-3
        BackfillHarness harness = started();
        HarnessWorker worker = atWork(harness);
        if (reached == BackfillState.PAUSED) {
            harness.pause(ID);
        } else if (reached == BackfillState.COMPLETED) {
            worker.close();
            harness.runToCompletion(ID);
        }
        assertThat(state()).isEqualTo(reached);
        Map<String, String> before = harness.row(ID);
        process("later", counted(), other());
        assertThat(harness.row(ID)).isEqualTo(before);
    }

    @Test
    void the_last_registration_wins_where_it_only_describes() { // ID-2, ID-3
        process("a", counted());
        process(
                "b",
                items().label("team", "b")
                        .repair(Repair.update().set("hits", "hits + 1"))
                        .validate(Validation.noRowMatches("hits <> 1"))
                        .build());
        assertThat(db.queryText("SELECT labels ->> 'team' FROM backfill_definition WHERE id = ?", ID.value()))
                .isEqualTo("b");
        assertThat(db.queryLong("SELECT count(*) FROM backfill")).isOne();
    }

    @Test
    void a_process_that_does_not_know_an_id_leaves_it_alone() { // ID-5
        BackfillHarness knowing = process("knowing", counted());
        BackfillHarness ignorant = process("ignorant", other());
        knowing.start(ID);
        Map<String, String> before = knowing.row(ID);
        assertThat(ignorant.worker("w").step()).isInstanceOf(StepOutcome.NothingToDo.class);
        assertThat(knowing.row(ID)).isEqualTo(before);
        assertThat(ignorant.show(ID).knownHere()).isFalse();
    }

    @Test
    void a_row_whose_key_was_stored_as_another_type_is_left_alone() { // ID-5, SR-4
        BackfillHarness harness = started();
        harness.tamper(ID, "key_codec", "v1:uuid");
        assertThat(harness.worker("a").step()).isInstanceOf(StepOutcome.NothingToDo.class);
        assertThat(column("generation")).isEqualTo("1");
    }

    @Test
    void a_new_process_does_not_revoke_a_claim_that_holds() { // ID-6
        BackfillHarness old = process("old", counted());
        old.start(ID);
        HarnessWorker owner = old.worker("w");
        step(owner);
        BackfillHarness young = process("young", counted());
        assertThat(young.worker("w").step()).isInstanceOf(StepOutcome.NothingToDo.class);
        assertThat(step(owner)).isInstanceOf(StepOutcome.Committed.class);
    }

    @Test
    void registrations_that_race_converge_on_one_row() throws Exception { // ID-2
        for (int round = 0; round < 5; round++) {
            Race.of(4).run(number -> process("p" + number, counted(), other()));
            assertThat(db.queryLong("SELECT count(*) FROM backfill")).isEqualTo(2);
        }
    }
}
