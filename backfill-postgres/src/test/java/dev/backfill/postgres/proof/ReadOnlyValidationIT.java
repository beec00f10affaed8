package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.ValidationOutcome;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.operate.ValidationReport.CurrentState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.FaultyConnections;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A validation reads, and only reads; keeps its claim while it does; and ends the row as it finds it. */
@PostgresTest
class ReadOnlyValidationIT {

    private final TestDatabase db;

    ReadOnlyValidationIT(TestDatabase db) {
        this.db = db;
    }

    private BackfillHarness at(BackfillState state, BackfillDefinition<?> definition) {
        Counters.fresh(db, 10);
        BackfillHarness harness = BackfillHarness.on(db, definition);
        Rows.put(db, state);
        return harness;
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "update counters set hits = 9",
                "insert into counters (id) values (99)",
                "select * from counters for update",
                "select pg_current_xact_id()",
                "create table sneaked (id int)",
                "select nextval('sneaky')",
            })
    void one_that_writes_is_blocked_by_a_worker_and_writes_nothing(String sql) { // VA-2, RB-4
        Counters.fresh(db, 10);
        db.execute("create sequence if not exists sneaky");
        BackfillDefinition<Long> definition = Counters.validatedBy(tx -> {
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute(sql);
            }
            return ValidationOutcome.holds();
        });
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            Rows.put(db, BackfillState.VALIDATING);
            assertThat(harness.validate(Counters.ID)).isInstanceOf(CurrentState.class);
            assertThat(harness.state(Counters.ID)).isEqualTo(BackfillState.VALIDATING);
            assertThat(harness.worker("a").step()).isInstanceOfSatisfying(StepOutcome.Ended.class, it -> {
                assertThat(it.state()).isEqualTo(BackfillState.BLOCKED);
                assertThat(it.diagnostic().code()).isEqualTo(DiagnosticCode.VALIDATION_WROTE.wireName());
            });
            assertThat(Counters.hits(db)).isEqualTo("0000000000");
            assertThat(db.queryText("select to_regclass('sneaked')")).isNull();
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "commit",
                "rollback",
                "select pg_advisory_lock(1)",
                "copy counters to program 'cat'",
                "set transaction read write",
                "lock counters"
            })
    void one_that_leaves_its_transaction_is_blocked(String sql) { // VA-2, AT-2
        try (BackfillHarness harness = at(BackfillState.VALIDATING, Counters.validatedBy(tx -> {
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute(sql);
            }
            return ValidationOutcome.holds();
        }))) {
            assertThat(harness.worker("a").step())
                    .isInstanceOfSatisfying(
                            StepOutcome.Ended.class,
                            it -> assertThat(it.diagnostic().code())
                                    .isEqualTo(DiagnosticCode.TRANSACTION_CONTROL_REFUSED.wireName()));
        }
    }

    @Test
    void one_that_is_longer_than_the_lease_keeps_its_claim() throws Exception { // CL-4, EV
        Counters.fresh(db, 10);
        Gate gate = new Gate();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Counters.validatedBy(tx -> {
                    gate.hold();
                    return ValidationOutcome.holds();
                }))
                .options(o -> o.scaledToLease(Duration.ofMillis(1_500)))
                .open()) {
            Rows.put(db, BackfillState.VALIDATING);
            Future<StepOutcome> step = harness.worker("a").stepAside();
            gate.awaitArrival();
            String first = db.queryText("select claim_expires_at::text from backfill");
            Eventually.until(
                    "the lease it began with is over",
                    () -> db.queryBoolean("select clock_timestamp() > ?::text::timestamptz", first));
            assertThat(harness.worker("b").step())
                    .isInstanceOfAny(StepOutcome.NothingToDo.class, StepOutcome.Waits.class);
            gate.open();
            assertThat(step.get(60, TimeUnit.SECONDS)).isIn(new StepOutcome.Completed(Counters.ID));
        }
    }

    @Test
    void a_rejected_validation_of_a_worker_fails_the_row_and_an_unmet_prerequisite_blocks_it() { // RB-6
        Map<ValidationOutcome, BackfillState> expected = new HashMap<>();
        expected.put(ValidationOutcome.rejected("No."), BackfillState.FAILED);
        expected.put(ValidationOutcome.prerequisiteUnmet("Not now."), BackfillState.BLOCKED);
        for (Map.Entry<ValidationOutcome, BackfillState> each : expected.entrySet()) {
            try (BackfillHarness harness = at(BackfillState.VALIDATING, Counters.validatedBy(tx -> each.getKey()))) {
                assertThat(harness.worker("a").step())
                        .isInstanceOfSatisfying(
                                StepOutcome.Ended.class,
                                it -> assertThat(it.state()).isEqualTo(each.getValue()));
                assertThat(harness.row(Counters.ID)).containsEntry("completed_at", null);
            }
        }
    }

    private void completionWithLostCommits(int lost, BackfillState state, List<String> heard) {
        Counters.fresh(db, 10);
        FaultyConnections faults = FaultyConnections.over(db);
        try (BackfillHarness harness = BackfillHarness.over(db)
                .connections(faults)
                .definitions(Counters.validatedBy(tx -> {
                    // The next COMMIT after the note that it began is that of the completion; it is tried twice.
                    faults.before(FaultPoint.commit(), lost, Fault.cut());
                    return ValidationOutcome.holds();
                }))
                .listener(event -> heard.add(event.kind().name()))
                .open()) {
            Rows.put(db, BackfillState.VALIDATING);
            harness.validate(Counters.ID);
            faults.assertAllStruck();
            assertThat(harness.state(Counters.ID)).isEqualTo(state);
        }
    }

    @Test
    void a_completion_is_announced_only_after_it_is_durable() { // OB-3
        List<String> heard = new CopyOnWriteArrayList<>();
        completionWithLostCommits(2, BackfillState.VALIDATING, heard);
        assertThat(heard).doesNotContain("COMPLETED");
    }

    @Test
    void a_completion_whose_commit_never_arrived_is_made_on_another_connection_and_announced_once() { // EV-4, OB-3
        List<String> heard = new CopyOnWriteArrayList<>();
        completionWithLostCommits(1, BackfillState.COMPLETED, heard);
        assertThat(heard).containsOnlyOnce("COMPLETED");
    }
}
