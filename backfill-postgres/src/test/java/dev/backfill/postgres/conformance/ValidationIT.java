package dev.backfill.postgres.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.ValidationOutcome;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.operate.ValidationReport;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.TestDatabase;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Cases 7 and 11: only a validation completes, and an explicit one tells exactly one of three things and changes nothing. */
class ValidationIT extends Case {

    private final AtomicReference<Validation.Custom<Long>> proof =
            new AtomicReference<>(tx -> ValidationOutcome.holds());

    ValidationIT(TestDatabase db) {
        super(db);
    }

    private BackfillDefinition<Long> proven() {
        return items().repair(Repair.update().set("hits", "hits + 1"))
                .validate((Validation.Custom<Long>) tx -> proof.get().check(tx))
                .build();
    }

    private BackfillHarness validating() {
        BackfillHarness harness = open(proven());
        harness.start(ID);
        HarnessWorker worker = harness.worker("a");
        while (state() == BackfillState.RUNNING) {
            step(worker);
        }
        worker.close();
        assertThat(state()).isEqualTo(BackfillState.VALIDATING);
        return harness;
    }

    private static String ask(dev.backfill.ValidationTransaction<Long> tx, String sql) throws SQLException {
        try (Statement statement = tx.connection().createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void reaching_the_bound_is_validating_and_not_completed() { // VA-1
        validating();
        assertThat(column("completed_at")).isNull();
        assertThat(column("checkpoint")).isEqualTo(column("bound"));
    }

    @Test
    void a_validation_that_rejects_fails_the_backfill() { // RB-6
        BackfillHarness harness = validating();
        proof.set(tx -> ValidationOutcome.rejected("two rows are odd"));
        assertThat(step(harness.worker("v"))).isInstanceOf(StepOutcome.Ended.class);
        assertThat(state()).isEqualTo(BackfillState.FAILED);
        assertThat(column("failure_code")).isEqualTo(DiagnosticCode.VALIDATION_REJECTED.wireName());
        harness.retry(ID);
        assertThat(state()).as("a retry never skips validation").isEqualTo(BackfillState.VALIDATING); // LC-2
    }

    @Test
    void an_unmet_prerequisite_of_a_validation_blocks() { // RB-6
        BackfillHarness harness = validating();
        proof.set(tx -> ValidationOutcome.prerequisiteUnmet("wait for the replica"));
        step(harness.worker("v"));
        assertThat(state()).isEqualTo(BackfillState.BLOCKED);
    }

    @Test
    void a_validation_that_could_not_run_is_tried_again() { // RB-6
        BackfillHarness harness = validating();
        proof.set(tx -> {
            throw new SQLException("gone", "57P01");
        });
        assertThat(step(harness.worker("v"))).isInstanceOf(StepOutcome.Retrying.class);
        assertThat(state()).isEqualTo(BackfillState.VALIDATING);
        proof.set(tx -> ValidationOutcome.holds());
        harness.clearRetryDelay(ID);
        assertThat(step(harness.worker("v"))).isEqualTo(new StepOutcome.Completed(ID));
    }

    @Test
    void a_validation_runs_in_one_read_only_snapshot() { // VA-2
        BackfillHarness harness = validating();
        List<String> seen = new CopyOnWriteArrayList<>();
        proof.set(tx -> {
            seen.add(ask(tx, "SHOW transaction_read_only"));
            seen.add(ask(tx, "SHOW transaction_isolation"));
            return ValidationOutcome.holds();
        });
        step(harness.worker("v"));
        assertThat(seen).containsExactly("on", "repeatable read");
    }

    @Test
    void a_validation_that_takes_a_transaction_id_is_refused() { // VA-2
        BackfillHarness harness = validating();
        proof.set(tx -> {
            ask(tx, "SELECT pg_current_xact_id()::text");
            return ValidationOutcome.holds();
        });
        assertThat(step(harness.worker("v"))).isNotInstanceOf(StepOutcome.Completed.class);
        assertThat(column("failure_code")).isEqualTo(DiagnosticCode.VALIDATION_WROTE.wireName());
    }

    @Test
    void a_pending_backfill_is_not_validated() { // EV-2
        BackfillHarness harness = open(proven());
        assertThat(harness.validate(ID))
                .isInstanceOfSatisfying(
                        ValidationReport.CurrentState.class,
                        now -> assertThat(now.reason()).isEqualTo(ValidationReport.Reason.NOT_STARTED));
    }

    @Test
    void an_explicit_validation_completes_what_is_validating() { // EV-2
        BackfillHarness harness = validating();
        assertThat(harness.validate(ID)).isInstanceOf(ValidationReport.Success.class);
        assertThat(state()).isEqualTo(BackfillState.COMPLETED);
    }

    @Test
    void anywhere_else_an_explicit_validation_only_tells() { // EV-2, EV-5
        BackfillHarness harness = open(proven());
        harness.start(ID);
        HarnessWorker worker = atWork(harness);
        var before = harness.row(ID);
        assertThat(harness.validate(ID)).isInstanceOf(ValidationReport.Success.class);
        assertThat(harness.row(ID)).isEqualTo(before);
        worker.close();
    }

    @Test
    void a_completed_backfill_that_no_longer_holds_reports_failure_and_stays_completed() { // EV-1, EV-3, LC-3
        BackfillHarness harness = open(counted());
        harness.runToCompletion(ID);
        assertThat(harness.validate(ID)).isInstanceOf(ValidationReport.Success.class);
        var before = harness.row(ID);
        db.execute("UPDATE items SET hits = 0 WHERE id = 20");
        assertThat(harness.validate(ID)).isInstanceOf(ValidationReport.Failure.class);
        assertThat(harness.row(ID)).isEqualTo(before);
    }

    @Test
    void one_validation_at_a_time_and_the_other_is_told_so() throws Exception { // EV-4
        BackfillHarness harness = validating();
        BackfillHarness otherProcess = open(proven());
        Gate gate = new Gate();
        proof.set(tx -> gate.holdThen(ValidationOutcome::holds));
        CompletableFuture<ValidationReport> first = CompletableFuture.supplyAsync(() -> harness.validate(ID));
        gate.awaitArrival();
        proof.set(tx -> ValidationOutcome.holds());
        assertThat(otherProcess.validate(ID))
                .isInstanceOfSatisfying(
                        ValidationReport.CurrentState.class,
                        now -> assertThat(now.reason()).isEqualTo(ValidationReport.Reason.ALREADY_RUNNING));
        gate.open();
        assertThat(first.get(30, TimeUnit.SECONDS)).isInstanceOf(ValidationReport.Success.class);
    }

    @Test
    void a_stale_explicit_validation_does_not_complete_a_run_that_was_paused_and_resumed()
            throws Exception { // VA-3, CL-3
        BackfillHarness harness = validating();
        Gate gate = new Gate();
        proof.set(tx -> gate.holdThen(ValidationOutcome::holds));
        CompletableFuture<ValidationReport> stale = CompletableFuture.supplyAsync(() -> harness.validate(ID));
        gate.awaitArrival();
        harness.pause(ID);
        harness.resume(ID);
        gate.open();
        stale.get(30, TimeUnit.SECONDS);
        assertThat(state()).isEqualTo(BackfillState.VALIDATING);
    }

    @Test
    void a_validation_of_a_running_backfill_does_not_complete_what_reached_the_bound_meanwhile()
            throws Exception { // VA-3
        BackfillHarness harness = open(proven());
        harness.start(ID);
        HarnessWorker worker = atWork(harness);
        Gate gate = new Gate();
        proof.set(tx -> gate.holdThen(ValidationOutcome::holds));
        CompletableFuture<ValidationReport> early = CompletableFuture.supplyAsync(() -> harness.validate(ID));
        gate.awaitArrival();
        while (state() == BackfillState.RUNNING) {
            step(worker);
        }
        assertThat(state()).isEqualTo(BackfillState.VALIDATING);
        gate.open();
        early.get(30, TimeUnit.SECONDS);
        assertThat(state()).isEqualTo(BackfillState.VALIDATING);
    }

    @Test
    void a_request_that_is_repeated_gets_the_outcome_it_had() { // EV-4, IK-2
        BackfillHarness harness = open(counted());
        harness.runToCompletion(ID);
        var request = BackfillHarness.request(ID, "the-same");
        assertThat(harness.operations().validate(request)).isInstanceOf(ValidationReport.Success.class);
        db.execute("UPDATE items SET hits = 0");
        assertThat(harness.operations().validate(request))
                .isInstanceOfSatisfying(
                        ValidationReport.Success.class,
                        again -> assertThat(again.replayed()).isTrue());
    }

    @Test
    void a_validation_that_the_database_can_not_run_has_no_result() { // EV-1
        BackfillHarness harness = validating();
        proof.set(tx -> {
            throw new SQLException("gone", "57P01");
        });
        assertThat(harness.validate(ID)).isInstanceOf(ValidationReport.CurrentState.class);
        assertThat(state()).isEqualTo(BackfillState.VALIDATING);
    }

    @Test
    void neither_a_window_nor_a_validation_runs_behind_the_barrier() throws Exception { // SR-6
        BackfillHarness harness = open(items().repair(Repair.update().set("hits", "hits + 1"))
                .validate(Validation.noRowMatches("false"))
                .build());
        try (var writer = db.get();
                var statement = writer.createStatement()) {
            writer.setAutoCommit(false);
            statement.execute("INSERT INTO items VALUES (0)");
            harness.start(ID);
            HarnessWorker worker = harness.worker("a");
            worker.step();
            assertThat(harness.validate(ID))
                    .isInstanceOfSatisfying(
                            ValidationReport.CurrentState.class,
                            now -> assertThat(now.reason()).isEqualTo(ValidationReport.Reason.START_BARRIER));
            writer.rollback();
        }
    }

    @Test
    void accepted_rejected_coalesced_and_completed_validations_are_on_record() throws Exception { // EV-6, AU-3
        BackfillHarness harness = open(proven());
        harness.validate(ID);
        harness.start(ID);
        HarnessWorker worker = harness.worker("a");
        while (state() != BackfillState.VALIDATING) {
            step(worker);
        }
        worker.close();
        BackfillHarness otherProcess = open(proven());
        Gate gate = new Gate();
        proof.set(tx -> gate.holdThen(() -> ValidationOutcome.rejected("odd")));
        CompletableFuture<ValidationReport> first = CompletableFuture.supplyAsync(() -> harness.validate(ID));
        gate.awaitArrival();
        otherProcess.validate(ID);
        gate.open();
        first.get(30, TimeUnit.SECONDS);
        proof.set(tx -> ValidationOutcome.holds());
        harness.validate(ID);
        assertThat(harness.auditRecords(ID).stream()
                        .filter(entry -> !"start".equals(entry.get("action")))
                        .map(entry -> entry.get("action") + " " + entry.get("outcome")))
                .containsExactlyInAnyOrder(
                        "validate current_state",
                        "validate applied",
                        "validate applied",
                        "validate current_state",
                        "validate failure",
                        "validate applied",
                        "validate success",
                        "complete applied");
    }
}
