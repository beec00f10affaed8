package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.ValidationOutcome;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.operate.ValidationReport;
import dev.backfill.operate.ValidationReport.CurrentState;
import dev.backfill.operate.ValidationReport.Failure;
import dev.backfill.operate.ValidationReport.Reason;
import dev.backfill.operate.ValidationReport.Success;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.FaultyConnections;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Validation: typed outcomes in every state, one at a time, read only, and completion fenced by what was judged. */
@PostgresTest
class ExplicitValidationIT {

    private final TestDatabase db;

    ExplicitValidationIT(TestDatabase db) {
        this.db = db;
    }

    /** Holds if the first row was repaired. */
    private static BackfillDefinition<Long> simple() {
        return Counters.validatedBy(tx -> {
            try (Statement statement = tx.connection().createStatement();
                    ResultSet row = statement.executeQuery(
                            "select count(*) from counters c where hits = 0 and " + tx.withinBound("c"))) {
                row.next();
                return row.getLong(1) == 0 ? ValidationOutcome.holds() : ValidationOutcome.rejected("Not yet.");
            }
        });
    }

    private BackfillHarness at(BackfillState state, BackfillDefinition<?> definition) {
        Counters.fresh(db, 10);
        BackfillHarness harness = BackfillHarness.on(db, definition);
        Rows.put(db, state);
        return harness;
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"PENDING", "VALIDATING"})
    void it_is_diagnostic_in_every_state_but_pending_and_validating(BackfillState state) { // EV-1, EV-2, EV-3, EV-5
        try (BackfillHarness harness = at(state, simple())) {
            if (state.isWorking()) {
                Rows.claim(db);
            }
            Map<String, String> before = harness.row(Counters.ID);
            assertThat(harness.validate(Counters.ID))
                    .isInstanceOfSatisfying(
                            Failure.class,
                            it -> assertThat(it.diagnostic().code())
                                    .isEqualTo(DiagnosticCode.VALIDATION_REJECTED.wireName()));
            db.execute("update counters set hits = 1");
            assertThat(harness.validate(Counters.ID)).isInstanceOf(Success.class);
            assertThat(harness.row(Counters.ID)).isEqualTo(before);
            assertThat(harness.auditRecords(Counters.ID))
                    .extracting(entry -> entry.get("outcome"))
                    .containsExactly("applied", "failure", "applied", "success");
        }
    }

    @Test
    void a_pending_row_is_not_validated() { // EV-2
        AtomicBoolean ran = new AtomicBoolean();
        try (BackfillHarness harness = at(BackfillState.PENDING, Counters.validatedBy(tx -> {
            ran.set(true);
            return ValidationOutcome.holds();
        }))) {
            Map<String, String> before = harness.row(Counters.ID);
            assertThat(harness.validate(Counters.ID))
                    .isInstanceOfSatisfying(
                            CurrentState.class, it -> assertThat(it.reason()).isEqualTo(Reason.NOT_STARTED));
            assertThat(ran).isFalse();
            assertThat(harness.row(Counters.ID)).isEqualTo(before);
        }
    }

    @Test
    void in_validating_success_completes_and_failure_changes_nothing() { // EV-2, VA-3
        try (BackfillHarness harness = at(BackfillState.VALIDATING, simple())) {
            Map<String, String> before = harness.row(Counters.ID);
            assertThat(harness.validate(Counters.ID)).isInstanceOf(Failure.class);
            assertThat(harness.row(Counters.ID)).isEqualTo(before);
            db.execute("update counters set hits = 1");
            assertThat(harness.validate(Counters.ID)).isInstanceOf(Success.class);
            assertThat(harness.row(Counters.ID))
                    .containsEntry("state", "completed")
                    .containsEntry("generation", "8");
            assertThat(harness.auditRecords(Counters.ID))
                    .last()
                    .satisfies(entry -> assertThat(entry)
                            .containsEntry("action", "complete")
                            .containsEntry("prior_state", "validating")
                            .containsEntry("resulting_state", "completed"));
        }
    }

    @Test
    void what_is_audited_is_the_row_that_was_evaluated() { // AU-3, EV-5
        AtomicBoolean moved = new AtomicBoolean();
        try (BackfillHarness harness = at(BackfillState.RUNNING, Counters.validatedBy(tx -> {
            if (moved.compareAndSet(false, true)) {
                // An operator is quicker than the proof.
                db.execute("update backfill set state = 'paused', generation = generation + 1");
            }
            return ValidationOutcome.rejected("Not yet.");
        }))) {
            String judged = harness.row(Counters.ID).get("generation");
            assertThat(harness.validate(Counters.ID)).isInstanceOf(Failure.class);
            assertThat(harness.state(Counters.ID)).isEqualTo(BackfillState.PAUSED);
            assertThat(harness.auditRecords(Counters.ID))
                    .last()
                    .satisfies(entry -> assertThat(entry)
                            .containsEntry("outcome", "failure")
                            .containsEntry("prior_state", "running")
                            .containsEntry("resulting_state", "running")
                            .containsEntry("generation", judged));
        }
    }

    @Test
    void an_unmet_prerequisite_is_a_failure_that_says_so() { // EV-1, RB-6
        try (BackfillHarness harness = at(
                BackfillState.COMPLETED,
                Counters.validatedBy(tx -> ValidationOutcome.prerequisiteUnmet("Load the plugin.")))) {
            assertThat(harness.validate(Counters.ID)).isInstanceOfSatisfying(Failure.class, it -> {
                assertThat(it.diagnostic().code()).isEqualTo(DiagnosticCode.VALIDATION_PREREQUISITE.wireName());
                assertThat(it.diagnostic().message()).contains("Load the plugin.");
            });
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_result_that_comes_after_the_row_moved_on_completes_nothing(boolean back) throws Exception { // VA-3, CL-3
        Gate gate = new Gate();
        AtomicInteger runs = new AtomicInteger();
        try (BackfillHarness harness = at(BackfillState.VALIDATING, Counters.validatedBy(tx -> {
            runs.incrementAndGet();
            gate.hold();
            return ValidationOutcome.holds();
        }))) {
            CompletableFuture<ValidationReport> report =
                    CompletableFuture.supplyAsync(() -> harness.validate(Counters.ID));
            gate.awaitArrival();
            harness.pause(Counters.ID);
            if (back) {
                harness.resume(Counters.ID);
            }
            Map<String, String> row = harness.row(Counters.ID);
            gate.open();
            assertThat(report.get(60, TimeUnit.SECONDS)).isInstanceOf(Success.class);
            assertThat(harness.row(Counters.ID)).isEqualTo(row);
            assertThat(runs).hasValue(1);
        }
    }

    @Test
    void a_workers_validation_that_lost_its_claim_completes_nothing() throws Exception { // VA-3
        Gate gate = new Gate();
        AtomicBoolean first = new AtomicBoolean(true);
        try (BackfillHarness harness = at(BackfillState.VALIDATING, Counters.validatedBy(tx -> {
            if (first.getAndSet(false)) {
                gate.hold();
            }
            return ValidationOutcome.holds();
        }))) {
            HarnessWorker worker = harness.worker("a");
            Future<StepOutcome> step = worker.stepAside();
            gate.awaitArrival();
            harness.pause(Counters.ID);
            harness.resume(Counters.ID);
            Map<String, String> row = harness.row(Counters.ID);
            gate.open();
            assertThat(step.get(60, TimeUnit.SECONDS)).isEqualTo(new StepOutcome.Fenced(Counters.ID, "generation"));
            assertThat(harness.row(Counters.ID)).isEqualTo(row);
        }
    }

    @Test
    void one_runs_at_a_time_on_all_processes_and_its_request_recovers_the_outcome() throws Exception { // EV-4
        Gate gate = new Gate();
        AtomicInteger runs = new AtomicInteger();
        BackfillDefinition<Long> definition = Counters.validatedBy(tx -> {
            runs.incrementAndGet();
            gate.hold();
            return ValidationOutcome.holds();
        });
        try (BackfillHarness one = at(BackfillState.VALIDATING, definition);
                BackfillHarness two = BackfillHarness.on(db, definition)) {
            String key = BackfillHarness.newRequestId();
            var request = BackfillHarness.request(Counters.ID, key);
            CompletableFuture<ValidationReport> first =
                    CompletableFuture.supplyAsync(() -> one.operations().validate(request));
            gate.awaitArrival();
            assertThat(two.validate(Counters.ID))
                    .isInstanceOfSatisfying(
                            CurrentState.class, it -> assertThat(it.reason()).isEqualTo(Reason.ALREADY_RUNNING));
            assertThat(two.operations().validate(request))
                    .isInstanceOfSatisfying(
                            CurrentState.class, it -> assertThat(it.reason()).isEqualTo(Reason.ALREADY_RUNNING));
            assertThat(two.worker("b").step()).isInstanceOf(StepOutcome.Waits.class);
            // What the others asked does not hide which request is at work.
            assertThat(db.queryText("select running_request_id from backfill_validation"))
                    .isEqualTo(key);
            gate.open();
            assertThat(first.get(60, TimeUnit.SECONDS)).isInstanceOf(Success.class);
            assertThat(runs).hasValue(1);
            assertThat(two.operations().validate(request))
                    .isInstanceOfSatisfying(
                            Success.class, it -> assertThat(it.replayed()).isTrue());
            assertThat(runs).hasValue(1);
        }
    }

    @Test
    void a_validator_that_dies_frees_the_slot() throws Exception { // EV-4
        Gate gate = new Gate();
        AtomicBoolean first = new AtomicBoolean(true);
        try (BackfillHarness harness = at(BackfillState.PAUSED, Counters.validatedBy(tx -> {
            if (first.getAndSet(false)) {
                gate.hold();
                try (Statement statement = tx.connection().createStatement()) {
                    statement.execute("select 1");
                }
            }
            return ValidationOutcome.holds();
        }))) {
            String key = BackfillHarness.newRequestId();
            var request = BackfillHarness.request(Counters.ID, key);
            CompletableFuture<ValidationReport> dying =
                    CompletableFuture.supplyAsync(() -> harness.operations().validate(request));
            gate.awaitArrival();
            db.killSessions();
            Eventually.until(
                    "the slot is free",
                    () -> db.queryBoolean("select not exists (select 1 from pg_locks where locktype = 'advisory')"));
            assertThat(harness.validate(Counters.ID)).isInstanceOf(Success.class);
            gate.open();
            assertThat(dying.get(60, TimeUnit.SECONDS))
                    .isInstanceOfSatisfying(
                            CurrentState.class, it -> assertThat(it.reason()).isEqualTo(Reason.UNAVAILABLE));
            assertThat(harness.operations().validate(request)).isInstanceOf(Success.class);
        }
    }

    @Test
    void a_slower_copy_of_a_request_does_not_change_the_answer_that_was_given() throws Exception { // EV-4, IK-2
        Counters.fresh(db, 10);
        FaultyConnections faults = FaultyConnections.over(db);
        Gate gate = new Gate();
        try (BackfillHarness slow = BackfillHarness.over(db)
                        .connections(faults)
                        .definitions(simple())
                        .open();
                BackfillHarness quick = BackfillHarness.on(db, simple())) {
            Rows.put(db, BackfillState.COMPLETED);
            var request = BackfillHarness.request(Counters.ID, BackfillHarness.newRequestId());
            faults.before(FaultPoint.tagged("validate"), Fault.hold(gate));
            CompletableFuture<ValidationReport> held =
                    CompletableFuture.supplyAsync(() -> slow.operations().validate(request));
            gate.awaitArrival();
            db.execute("update counters set hits = 1");
            assertThat(quick.operations().validate(request)).isInstanceOf(Success.class);
            db.execute("update counters set hits = 0");
            gate.open();
            assertThat(held.get(60, TimeUnit.SECONDS)).isInstanceOf(Success.class);
            assertThat(quick.operations().validate(request))
                    .isInstanceOfSatisfying(
                            Success.class, it -> assertThat(it.replayed()).isTrue());
        }
    }

    @Test
    void one_that_takes_long_goes_on_and_its_request_asks_for_the_outcome() { // EV-4
        Counters.fresh(db, 10);
        Gate gate = new Gate();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Counters.validatedBy(tx -> {
                    gate.hold();
                    return ValidationOutcome.holds();
                }))
                .options(o -> o.operatorTimeout(Duration.ofMillis(1_200)))
                .open()) {
            Rows.put(db, BackfillState.PAUSED);
            var request = BackfillHarness.request(Counters.ID, BackfillHarness.newRequestId());
            assertThat(harness.operations().validate(request))
                    .isInstanceOfSatisfying(
                            CurrentState.class, it -> assertThat(it.reason()).isEqualTo(Reason.ALREADY_RUNNING));
            gate.open();
            Eventually.until("the outcome is there", () -> harness.operations().validate(request) instanceof Success);
        }
    }

    @Test
    void one_that_never_ends_takes_one_thread_only_however_often_it_is_asked_for() { // EV-4, BB-2
        Counters.fresh(db, 10);
        AtomicInteger entries = new AtomicInteger();
        CountDownLatch release = new CountDownLatch(1);
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Counters.validatedBy(tx -> {
                    entries.incrementAndGet();
                    release.await();
                    return ValidationOutcome.holds();
                }))
                .options(o -> o.operatorTimeout(Duration.ofMillis(1_200)).validationTimeout(Duration.ofSeconds(2)))
                .open()) {
            Rows.put(db, BackfillState.PAUSED);
            harness.validate(Counters.ID);
            Eventually.until(
                    "PostgreSQL has ended its session, and the slot with it",
                    () -> db.queryLong("select count(*) from pg_locks where locktype = 'advisory' and database ="
                                    + " (select oid from pg_database where datname = current_database())")
                            == 0);
            assertThat(harness.validate(Counters.ID))
                    .isInstanceOfSatisfying(
                            CurrentState.class, it -> assertThat(it.reason()).isEqualTo(Reason.ALREADY_RUNNING));
            assertThat(entries).hasValue(1);
            release.countDown();
            Eventually.until("the next one runs", () -> harness.validate(Counters.ID) instanceof Success);
        } finally {
            release.countDown();
        }
    }
}
