package dev.backfill.postgres.startup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.host.Backfills;
import dev.backfill.host.Readiness;
import dev.backfill.host.SchemaMode;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.MethodSource;

/** The four cells of the two switches with a row in each of the seven states, restart included (CF, CT-13). */
@PostgresTest
class MatrixIT {

    private final TestDatabase db;

    MatrixIT(TestDatabase db) {
        this.db = db;
    }

    static Stream<Arguments> cells() {
        return Arrays.stream(BackfillState.values())
                .flatMap(state -> Arrays.stream(SchemaMode.values())
                        .flatMap(mode ->
                                Stream.of(new Arguments(mode, true, state), new Arguments(mode, false, state))));
    }

    /** One cell and what it finds. */
    record Arguments(SchemaMode mode, boolean automatic, BackfillState found) {}

    private Backfills boot(Arguments cell) {
        Backfills engine = Host.start(db, cell.mode(), builder -> {
            if (cell.automatic()) {
                builder.requiredAtStartup(Host.ID.value());
            }
        });
        Host.awaitStarted(engine);
        return engine;
    }

    @ParameterizedTest
    @MethodSource("cells")
    void each_cell_does_what_it_says_with_what_it_finds_and_again_after_a_restart(Arguments cell) {
        found(cell.found());
        try (Backfills engine = boot(cell)) {
            expect(cell, engine);
        }
        long starts = Host.startsAudited(db);
        String before = Host.state(db, Host.ID);
        try (Backfills again = boot(cell)) {
            // A restart: the gate is rebuilt, and says nothing new (CF-2).
            expectOpen(again, !cell.automatic() || before.equals("completed"));
        }
        assertThat(Host.state(db, Host.ID)).isEqualTo(before);
        assertThat(Host.startsAudited(db)).isEqualTo(starts);
    }

    private void expect(Arguments cell, Backfills engine) {
        boolean startedHere = cell.automatic() && cell.found() == BackfillState.PENDING;
        switch (cell.found()) {
            case PENDING -> {
                if (cell.automatic()) {
                    Host.awaitOpen(engine); // CF-1
                    assertThat(Host.state(db, Host.ID)).isEqualTo("completed");
                } else {
                    Host.awaitOpen(engine); // CF-4
                    assertThat(Host.state(db, Host.ID)).isEqualTo("pending");
                }
            }
            case RUNNING, VALIDATING -> { // CF-5
                Eventually.until("it is completed", () -> "completed".equals(Host.state(db, Host.ID)));
                Host.awaitOpen(engine);
            }
            case PAUSED, BLOCKED, FAILED -> {
                expectOpen(engine, !cell.automatic()); // CF-1, CF-4
                if (cell.automatic()) {
                    Eventually.until(
                            "the gate names it",
                            () -> String.valueOf(engine.readiness().backfills().reason())
                                    .contains(Host.ID.value() + " is "
                                            + cell.found().wireName()));
                }
                assertThat(Host.state(db, Host.ID)).isEqualTo(cell.found().wireName());
            }
            case COMPLETED -> Host.awaitOpen(engine);
        }
        assertThat(Host.startsAudited(db)).isEqualTo(startedHere ? 1 : 0);
    }

    private static void expectOpen(Backfills engine, boolean open) {
        if (open) {
            Host.awaitOpen(engine);
        } else {
            assertThat(engine.readiness().isOpen()).isFalse();
        }
    }

    @ParameterizedTest
    @EnumSource(
            value = BackfillState.class,
            names = {"PAUSED", "BLOCKED", "FAILED"})
    void an_operator_recovers_what_keeps_the_gate_closed_while_it_is_closed(BackfillState state) { // CF-3
        found(state);
        try (Backfills engine = boot(new Arguments(SchemaMode.VERIFY, true, state))) {
            assertThat(engine.readiness().isOpen()).isFalse();
            BackfillAction action = state == BackfillState.PAUSED ? BackfillAction.RESUME : BackfillAction.RETRY;
            assertThat(BackfillHarness.perform(
                            engine.operations(), action, new OperatorRequest(Host.ID, "recover", Host.OPERATOR, null)))
                    .isInstanceOf(ActionOutcome.Applied.class);
            Host.awaitOpen(engine);
            assertThat(Host.state(db, Host.ID)).isEqualTo("completed");
        }
    }

    @Test
    void on_an_empty_database_migration_comes_before_the_required_set() { // CF
        Host.items(db, 25);
        try (Backfills engine = boot(new Arguments(SchemaMode.MIGRATE, true, BackfillState.PENDING))) {
            Host.awaitOpen(engine);
        }
        assertThat(db.queryLong("select count(*) from items where doubled = n * 2"))
                .isEqualTo(25);
    }

    @Test
    void without_migration_a_missing_schema_is_a_failure_of_its_own_in_both_modes() { // CF
        for (boolean automatic : new boolean[] {true, false}) {
            Host.items(db, 1);
            try (Backfills engine = Host.start(db, SchemaMode.VERIFY, b -> {
                if (automatic) {
                    b.requiredAtStartup(Host.ID.value());
                }
            })) {
                Readiness readiness = engine.readiness();
                assertThat(readiness.schema().status()).isEqualTo(Readiness.Status.CLOSED);
                assertThat(readiness.schema().reason()).startsWith("The tables of Backfill are not in schema public.");
                assertThat(readiness.database().ok()).isTrue();
                assertThat(readiness.backfills().status())
                        .isEqualTo(automatic ? Readiness.Status.UNKNOWN : Readiness.Status.OPEN);
                assertThat(db.queryTexts("select relname from pg_class where relname like 'backfill%'"))
                        .isEmpty();
                Eventually.until("the problem is typed", () -> {
                    try {
                        engine.requireStarted();
                        return false;
                    } catch (BackfillUnavailableException e) {
                        return e.reason() == BackfillUnavailableException.Reason.SCHEMA_MISSING;
                    }
                });
                // It comes up by itself when somebody has migrated.
                try (Backfills other = Host.start(db, SchemaMode.MIGRATE, b -> {})) {
                    Host.awaitStarted(other);
                }
                Host.awaitOpen(engine);
            }
        }
    }

    /** Brings the row into a state, by the engine's own means as far as they go. */
    private void found(BackfillState state) {
        Host.items(db, 25);
        try (BackfillHarness harness = BackfillHarness.on(db, Host.doubling(Host.ID.value()))) {
            switch (state) {
                case PENDING -> {}
                case RUNNING -> applied(harness, BackfillAction.START);
                case PAUSED -> {
                    applied(harness, BackfillAction.START);
                    applied(harness, BackfillAction.PAUSE);
                }
                case BLOCKED, FAILED -> {
                    applied(harness, BackfillAction.START);
                    harness.tamper(Host.ID, "failure_code", "data_error");
                    harness.tamper(Host.ID, "state", state.wireName());
                }
                case VALIDATING -> {
                    applied(harness, BackfillAction.START);
                    try (HarnessWorker worker = harness.worker("a")) {
                        Eventually.until(
                                "the bound is reached",
                                () -> worker.step() instanceof StepOutcome.Committed done && done.boundReached());
                    }
                }
                case COMPLETED -> harness.runToCompletion(Host.ID);
            }
            assertThat(harness.state(Host.ID)).isEqualTo(state);
        }
        db.execute("delete from backfill_audit");
    }

    /** "Not now" is an answer of a busy server that a client repeats. */
    private static void applied(BackfillHarness harness, BackfillAction action) {
        Eventually.until(
                action + " is applied",
                () -> harness.perform(action, Host.ID, "found-" + action) instanceof ActionOutcome.Applied);
    }
}
