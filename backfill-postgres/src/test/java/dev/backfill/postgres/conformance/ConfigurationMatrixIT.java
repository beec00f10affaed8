package dev.backfill.postgres.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.BackfillDefinition;
import dev.backfill.InvalidDefinitionException;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.Readiness;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.HarnessBuilder;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.TestDatabase;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Case 13: the four cells of the configuration, through a real startup, and recovery while the gate is closed. */
class ConfigurationMatrixIT extends Case {

    ConfigurationMatrixIT(TestDatabase db) {
        super(db);
    }

    private HarnessBuilder process(SchemaMode mode, boolean automatic) {
        HarnessBuilder builder = BackfillHarness.over(db).definitions(counted()).schema(mode);
        return automatic ? builder.requiredAtStartup(ID.value()) : builder;
    }

    private void noTables() {
        db.execute(
                "DROP TABLE IF EXISTS backfill, backfill_definition, backfill_validation, backfill_request, backfill_audit,"
                        + " backfill_pace, backfill_family, backfill_schema_version");
    }

    private static Readiness.Input backfills(BackfillHarness harness) {
        return harness.backfills().readiness().backfills();
    }

    @ParameterizedTest(name = "automatic={0}")
    @ValueSource(booleans = {true, false})
    void without_migration_and_without_tables_nothing_is_created_and_the_schema_is_named(
            boolean automatic) { // CF-1, CF-2
        noTables();
        BackfillHarness harness = kept(process(SchemaMode.VERIFY, automatic).openIncomplete());
        Eventually.until(
                "startup has looked", () -> !harness.backfills().readiness().isOpen());
        Readiness readiness = harness.backfills().readiness();
        assertThat(readiness.schema().ok()).isFalse();
        assertThat(readiness.schema().reason()).startsWith("The tables of Backfill are not in schema public.");
        assertThat(readiness.backfills().ok()).isEqualTo(!automatic);
        assertThat(db.queryText("SELECT to_regclass('backfill')")).isNull();
    }

    @ParameterizedTest(name = "automatic={0}")
    @ValueSource(booleans = {true, false})
    void with_migration_the_tables_are_made(boolean automatic) { // SC-3
        noTables();
        kept(process(SchemaMode.MIGRATE, automatic).open());
        assertThat(db.queryText("SELECT to_regclass('backfill')")).isNotNull();
        assertThat(state()).isEqualTo(automatic ? BackfillState.RUNNING : BackfillState.PENDING);
    }

    @Test
    void manual_mode_starts_nothing_and_gates_nothing() { // CF-4
        BackfillHarness harness = kept(process(SchemaMode.MIGRATE, false).open());
        assertThat(state()).isEqualTo(BackfillState.PENDING);
        assertThat(harness.backfills().readiness().isOpen()).isTrue();
    }

    @Test
    void automatic_mode_starts_what_is_required_and_opens_when_it_is_completed() { // CF-1, CF-2
        BackfillHarness harness = kept(process(SchemaMode.MIGRATE, true).open());
        assertThat(state()).isEqualTo(BackfillState.RUNNING);
        assertThat(backfills(harness).ok()).isFalse();
        harness.runToCompletion(ID);
        Eventually.until("the gate opens", () -> harness.backfills().readiness().isOpen());
        BackfillHarness restarted = kept(process(SchemaMode.VERIFY, true).open());
        assertThat(restarted.backfills().readiness().isOpen())
                .as("rebuilt from PostgreSQL")
                .isTrue();
    }

    @ParameterizedTest
    @EnumSource(
            value = BackfillState.class,
            names = {"RUNNING", "PAUSED", "BLOCKED", "FAILED", "VALIDATING"})
    void whatever_is_not_completed_keeps_the_gate_closed(BackfillState unfinished) { // CF-1
        BackfillHarness first = kept(process(SchemaMode.MIGRATE, false).open());
        first.start(ID);
        db.update("UPDATE backfill SET state = ?", unfinished.wireName());
        BackfillHarness gated = kept(process(SchemaMode.VERIFY, true).open());
        assertThat(backfills(gated).ok()).isFalse();
        assertThat(backfills(gated).reason()).contains(ID.value()).contains(unfinished.wireName());
        assertThat(state()).as("startup neither resumes nor retries").isEqualTo(unfinished);
    }

    @ParameterizedTest
    @EnumSource(
            value = BackfillState.class,
            names = {"PAUSED", "BLOCKED", "FAILED"})
    void operators_recover_a_backfill_while_the_gate_is_closed(BackfillState from) { // CF-3
        BackfillHarness harness = kept(process(SchemaMode.MIGRATE, true).open());
        db.update("UPDATE backfill SET state = ?", from.wireName());
        assertThat(harness.show(ID).state()).isEqualTo(from);
        BackfillAction way = from == BackfillState.PAUSED ? BackfillAction.RESUME : BackfillAction.RETRY;
        assertThat(harness.perform(way, ID)).isInstanceOf(ActionOutcome.Applied.class);
        harness.runToCompletion(ID);
        Eventually.until("the gate opens", () -> harness.backfills().readiness().isOpen());
        assertEachRowOnce();
    }

    @Test
    void manual_mode_takes_over_work_that_was_started() { // CF-5
        BackfillHarness automatic = kept(process(SchemaMode.MIGRATE, true).open());
        HarnessWorker worker = automatic.worker("w");
        step(worker);
        worker.vanish();
        automatic.expireLease(ID);
        BackfillHarness manual = kept(process(SchemaMode.VERIFY, false).open());
        manual.runToCompletion(ID);
        assertEachRowOnce();
    }

    @Test
    void a_database_that_can_not_be_read_is_unknown_and_not_ready() { // CF-2
        BackfillHarness harness = kept(BackfillHarness.over(db)
                .definitions(counted())
                .requiredAtStartup(ID.value())
                .connections(faults)
                .open());
        faults.before(dev.backfill.testkit.FaultPoint.connect(), 1_000, dev.backfill.testkit.Fault.fail("08001"));
        Eventually.until(
                "the gate has noticed",
                () -> harness.backfills().readiness().database().status() == Readiness.Status.UNKNOWN);
        assertThat(harness.backfills().readiness().isOpen()).isFalse();
    }

    @Test
    void a_definition_that_ships_with_its_write_path_is_refused_in_the_required_set() { // CF-7
        BackfillDefinition<Long> early = items().shipsWithWritePath()
                .repair(Repair.update().set("hits", "hits + 1"))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
        assertThatThrownBy(() -> BackfillHarness.over(db)
                        .definitions(early)
                        .requiredAtStartup(ID.value())
                        .open())
                .isInstanceOf(InvalidDefinitionException.class)
                .hasMessageContaining(ID.value());
    }

    @Test
    void a_table_that_lacks_a_column_is_reported_and_not_repaired() { // CF-8
        BackfillHarness harness = open(items().repair(Repair.update().set("hits", "hits + 1"))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build());
        db.execute("ALTER TABLE items DROP COLUMN hits");
        assertThat(harness.start(ID)).isInstanceOf(ActionOutcome.Conflict.class);
        assertThat(state()).isEqualTo(BackfillState.PENDING);
        db.execute("ALTER TABLE items ADD COLUMN hits int NOT NULL DEFAULT 0");
        assertThat(harness.start(ID)).isInstanceOf(ActionOutcome.Applied.class);
        db.execute("ALTER TABLE items DROP COLUMN hits");
        harness.worker("w").step();
        assertThat(column("claim_token")).isNull();
        assertThat(column("wait_reason")).isEqualTo("schema");
    }
}
