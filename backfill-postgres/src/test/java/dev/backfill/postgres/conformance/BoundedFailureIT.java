package dev.backfill.postgres.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.BlockedException;
import dev.backfill.Repair;
import dev.backfill.RetryableException;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.TestDatabase;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.Test;

/** Case 8: failures are bounded, classified before they are reported, and tell no secrets. */
class BoundedFailureIT extends Case {

    private static final String SECRET = "s3cret-value";

    private final AtomicReference<Repair.Custom<Long>> repair = new AtomicReference<>((batch, tx) -> 0);

    BoundedFailureIT(TestDatabase db) {
        super(db);
    }

    private BackfillHarness repairing(Repair.Custom<Long> how) {
        repair.set(how);
        BackfillDefinition<Long> definition = items().repair(
                        (batch, tx) -> repair.get().repair(batch, tx))
                .validate(Validation.noRowMatches("false"))
                .build();
        BackfillHarness harness = kept(BackfillHarness.over(db)
                .definitions(definition)
                .connections(faults)
                .options(options -> options.maxAttempts(3).contentionBudget(4))
                .open());
        harness.start(ID);
        return harness;
    }

    private StepOutcome again(BackfillHarness harness) {
        harness.clearRetryDelay(ID);
        return step(harness.worker("w"));
    }

    @Test
    void a_definition_that_always_fails_ends_as_failed_after_its_attempts() { // RB-2, RB-4
        BackfillHarness harness = repairing((batch, tx) -> {
            throw new IllegalStateException("always");
        });
        HarnessWorker worker = harness.worker("w");
        for (int i = 0; i < 20 && state() == BackfillState.RUNNING; i++) {
            assertThat(step(worker)).isInstanceOfAny(StepOutcome.Retrying.class, StepOutcome.Ended.class);
            harness.clearRetryDelay(ID);
        }
        assertThat(state()).isEqualTo(BackfillState.FAILED);
        assertThat(column("attempts")).isEqualTo("3");
        assertThat(column("failure_code")).isEqualTo(DiagnosticCode.DEFINITION_ERROR.wireName());
    }

    @Test
    void a_failure_delays_the_next_claim_by_the_servers_clock() { // RB-2
        BackfillHarness harness = repairing((batch, tx) -> {
            throw new RetryableException("not yet");
        });
        again(harness);
        assertThat(db.queryBoolean(
                        "SELECT next_attempt_at >= failure_at AND next_attempt_at < failure_at + interval '61 s'"
                                + " FROM backfill"))
                .isTrue();
        assertThat(column("claim_token")).isNull();
    }

    @Test
    void committed_progress_resets_the_attempts() { // RB-2, RB-5
        BackfillHarness harness = repairing((batch, tx) -> {
            throw new RetryableException("not yet");
        });
        again(harness);
        again(harness);
        assertThat(column("attempts")).isEqualTo("2");
        repair.set((batch, tx) -> 0);
        assertThat(again(harness)).isInstanceOf(StepOutcome.Committed.class);
        assertThat(column("attempts")).isEqualTo("0");
        assertThat(column("failure_code")).isNull();
    }

    @Test
    void contention_has_a_budget_of_its_own_and_ends_too() { // RB-2, RB-3
        BackfillHarness harness = repairing((batch, tx) -> 0);
        faults.before(FaultPoint.tagged("repair"), 100, Fault.fail("40001"));
        for (int i = 1; i < 4; i++) {
            assertThat(again(harness)).isInstanceOf(StepOutcome.Retrying.class);
            assertThat(column("attempts")).isEqualTo("0");
            assertThat(column("contended")).isEqualTo(Integer.toString(i));
        }
        assertThat(again(harness)).isInstanceOf(StepOutcome.Ended.class);
        assertThat(column("failure_code")).isEqualTo(DiagnosticCode.CONTENTION_EXHAUSTED.wireName());
    }

    @Test
    void an_unmet_prerequisite_blocks_with_the_definitions_own_words() { // RB-4
        BackfillHarness harness = repairing((batch, tx) -> {
            throw new BlockedException("Load the currency table first.");
        });
        again(harness);
        assertThat(state()).isEqualTo(BackfillState.BLOCKED);
        assertThat(column("failure_message")).contains("Load the currency table first.");
        repair.set((batch, tx) -> 0);
        harness.retry(ID);
        harness.runToCompletion(ID);
    }

    @Test
    void a_data_error_is_narrowed_to_its_row_and_then_blocks_with_that_range() { // RB-4
        db.execute("ALTER TABLE items ADD CONSTRAINT hits_of_eight CHECK (id <> 8 OR hits = 0)");
        BackfillHarness harness = repairing((batch, tx) -> {
            try (var update = tx.connection().prepareStatement("UPDATE items SET hits = hits + 1 WHERE id = ANY (?)")) {
                update.setArray(
                        1, tx.connection().createArrayOf("bigint", batch.keys().toArray()));
                return update.executeUpdate();
            }
        });
        HarnessWorker worker = harness.worker("w");
        for (int i = 0; i < 20 && state() == BackfillState.RUNNING; i++) {
            step(worker);
            harness.clearRetryDelay(ID);
        }
        assertThat(state()).isEqualTo(BackfillState.BLOCKED);
        assertThat(column("failure_code")).isEqualTo(DiagnosticCode.DATA_ERROR.wireName());
        assertThat(column("checkpoint")).isEqualTo("{7}");
        assertThat(hits()).isEqualTo(7);
    }

    @Test
    void no_row_value_or_message_of_the_server_reaches_a_diagnostic() { // AU-5
        db.execute("ALTER TABLE items ADD COLUMN secret text NOT NULL DEFAULT '" + SECRET + "'");
        db.execute("CREATE TABLE secrets (secret text CONSTRAINT secrets_are_unique UNIQUE)");
        BackfillHarness harness = repairing((batch, tx) -> {
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute("INSERT INTO secrets SELECT secret FROM items");
            }
            return 0;
        });
        HarnessWorker worker = harness.worker("w");
        for (int i = 0; i < 20 && state() == BackfillState.RUNNING; i++) {
            step(worker);
            harness.clearRetryDelay(ID);
        }
        assertThat(column("failure_message")).contains("secrets_are_unique").doesNotContain(SECRET);
        assertThat(harness.show(ID).toString()).doesNotContain(SECRET);
        assertThat(harness.auditRecords(ID).toString()).doesNotContain(SECRET);
    }

    @Test
    void a_definition_that_commits_is_refused_and_blocked() { // AT-2, RB-4
        BackfillHarness harness = repairing((batch, tx) -> {
            tx.connection().commit();
            return 0;
        });
        again(harness);
        assertThat(state()).isEqualTo(BackfillState.BLOCKED);
        assertThat(column("failure_code")).isEqualTo(DiagnosticCode.TRANSACTION_CONTROL_REFUSED.wireName());
    }

    @Test
    void a_definition_that_sets_something_in_the_session_is_refused_and_blocked() { // AT-2
        BackfillHarness harness = repairing((batch, tx) -> {
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute("/* harmless */ SET lock_timeout = 0");
            }
            return 0;
        });
        again(harness);
        assertThat(column("failure_code")).isEqualTo(DiagnosticCode.TRANSACTION_CONTROL_REFUSED.wireName());
    }

    @Test
    void a_swallowed_error_is_found_out() { // AT-2, RB-4
        BackfillHarness harness = repairing((batch, tx) -> {
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute("SELECT 1 FROM nowhere");
            } catch (java.sql.SQLException e) {
                return 0;
            }
            return 0;
        });
        again(harness);
        assertThat(column("batches")).isEqualTo("0");
        assertThat(column("failure_code")).isEqualTo(DiagnosticCode.SQL_ERROR_SWALLOWED.wireName());
    }
}
