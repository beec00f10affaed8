package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.BlockedException;
import dev.backfill.Repair;
import dev.backfill.RetryableException;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** What follows from a failure: which kind it is, what it costs, how long it waits, where it ends. */
@PostgresTest
class FailurePolicyIT {

    private final TestDatabase db;

    FailurePolicyIT(TestDatabase db) {
        this.db = db;
    }

    private BackfillHarness engine(BackfillDefinition<?>... definitions) {
        return BackfillHarness.over(db)
                .definitions(definitions)
                .options(o -> o.maxAttempts(3).contentionBudget(4))
                .open();
    }

    private BackfillHarness failing(Repair.Custom<Long> failure) {
        Counters.fresh(db, 10);
        BackfillHarness harness = engine(Counters.custom(4, failure));
        harness.start(Counters.ID);
        return harness;
    }

    private static void raise(java.sql.Connection connection, String sqlState) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("do $$ begin raise exception 'x' using errcode = '" + sqlState + "'; end $$");
        }
    }

    @ParameterizedTest
    @CsvSource({
        // transient: retried, its own budget
        "40001, contention, 0, 1",
        "40P01, contention, 0, 1",
        "55P03, contention, 0, 1",
        "57014, statement-cancelled, 0, 1",
        "53300, infrastructure, 0, 1",
        "57P01, infrastructure, 0, 1",
        "08006, infrastructure, 0, 1",
        "25006, infrastructure, 0, 1",
        "0A000, infrastructure, 0, 1",
        "53200, infrastructure, 0, 1",
        "58030, infrastructure, 0, 1",
        "72000, infrastructure, 0, 1",
        "26000, infrastructure, 0, 1",
        "42P05, infrastructure, 0, 1",
    })
    void an_error_of_this_sqlstate_is_retried_under_its_budget(
            String state, String code, String attempts, String contended) { // RB-2, RB-3
        try (BackfillHarness harness = failing((batch, tx) -> {
            raise(tx.connection(), state);
            return 0;
        })) {
            assertThat(harness.worker("a").step()).isInstanceOfSatisfying(StepOutcome.Retrying.class, it -> {
                assertThat(it.diagnostic().code()).isEqualTo(code);
                assertThat(it.diagnostic().sqlState()).isEqualTo(state);
            });
            assertThat(harness.row(Counters.ID))
                    .containsEntry("state", "running")
                    .containsEntry("claim_token", null)
                    .containsEntry("attempts", attempts)
                    .containsEntry("contended", contended)
                    .containsEntry("failure_code", code)
                    .containsEntry("failure_sql_state", state);
            assertThat(harness.row(Counters.ID).get("next_attempt_at")).isNotNull();
            assertThat(Counters.hits(db)).isEqualTo("0000000000");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"P0001", "20000", "21000", "42601", "42883", "22012", "23514", "XX000"})
    void an_error_that_stays_with_every_row_is_the_definitions_whatever_its_sqlstate(String state) { // RB-2, RB-4
        try (BackfillHarness harness = failing((batch, tx) -> {
            raise(tx.connection(), state);
            return 0;
        })) {
            HarnessWorker worker = harness.worker("a");
            StepOutcome outcome = worker.step();
            // Four keys, two, one: then it is tried elsewhere.
            assertThat(harness.row(Counters.ID).get("claim_token")).isNotNull();
            worker.step();
            assertThat(worker.step()).isInstanceOfSatisfying(StepOutcome.Retrying.class, it -> {
                assertThat(it.diagnostic().code()).isEqualTo("definition-error");
                assertThat(it.diagnostic().sqlState()).isEqualTo(state);
            });
            assertThat(outcome).isInstanceOf(StepOutcome.Retrying.class);
            assertThat(harness.row(Counters.ID))
                    .containsEntry("state", "running")
                    .containsEntry("claim_token", null)
                    .containsEntry("attempts", "1")
                    .containsEntry("contended", "0")
                    .containsEntry("failure_code", "definition-error");
            assertThat(harness.row(Counters.ID).get("next_attempt_at")).isNotNull();
            assertThat(Counters.hits(db)).isEqualTo("0000000000");
        }
    }

    @ParameterizedTest
    @CsvSource({"42P01", "42703", "42501"})
    void a_thing_that_every_row_misses_is_blocked_in_the_first_attempt(String state) { // RB-4, CF-8
        try (BackfillHarness harness = failing((batch, tx) -> {
            raise(tx.connection(), state);
            return 0;
        })) {
            assertThat(Counters.lastStep(harness.worker("a"))).isInstanceOfSatisfying(StepOutcome.Ended.class, it -> {
                assertThat(it.state()).isEqualTo(BackfillState.BLOCKED);
                assertThat(it.diagnostic().code()).isEqualTo(DiagnosticCode.INCOMPATIBLE_SCHEMA.wireName());
            });
        }
    }

    @Test
    void an_error_wrapped_by_a_framework_is_read_by_its_cause() { // RB-3
        try (BackfillHarness harness = failing((batch, tx) -> {
            throw new IllegalStateException(new IllegalStateException(new SQLException("x", "40001")));
        })) {
            assertThat(harness.worker("a").step())
                    .isInstanceOfSatisfying(
                            StepOutcome.Retrying.class,
                            it -> assertThat(it.diagnostic().code()).isEqualTo("contention"));
        }
    }

    @Test
    void definition_errors_end_in_failed_after_the_last_attempt_with_an_audit_record() { // RB-2, RB-4
        AtomicInteger calls = new AtomicInteger();
        try (BackfillHarness harness = failing((batch, tx) -> {
            calls.incrementAndGet();
            throw new IllegalStateException("x");
        })) {
            HarnessWorker worker = harness.worker("a");
            for (int i = 0; i < 4; i++) {
                assertThat(worker.step()).isInstanceOf(StepOutcome.Retrying.class);
                harness.clearRetryDelay(Counters.ID);
            }
            assertThat(harness.row(Counters.ID)).containsEntry("attempts", "2");
            assertThat(worker.step())
                    .isInstanceOfSatisfying(
                            StepOutcome.Ended.class,
                            it -> assertThat(it.state()).isEqualTo(BackfillState.FAILED));
            assertThat(worker.step()).isEqualTo(new StepOutcome.NothingToDo());
            // Windows of four, two and one key, twice more of one, and each time a window and three keys elsewhere.
            assertThat(calls).hasValue(3 + 2 + 3 * 4);
            assertThat(harness.auditRecords(Counters.ID))
                    .last()
                    .satisfies(entry -> assertThat(entry)
                            .containsEntry("action", "fail")
                            .containsEntry("note", DiagnosticCode.DEFINITION_ERROR.wireName()));
        }
    }

    @Test
    void contention_ends_in_failed_when_its_own_budget_is_spent() { // RB-2, RB-3
        try (BackfillHarness harness = failing((batch, tx) -> {
            raise(tx.connection(), "40001");
            return 0;
        })) {
            HarnessWorker worker = harness.worker("a");
            for (int i = 1; i < 4; i++) {
                assertThat(worker.step()).isInstanceOf(StepOutcome.Retrying.class);
                harness.clearRetryDelay(Counters.ID);
            }
            assertThat(worker.step()).isInstanceOfSatisfying(StepOutcome.Ended.class, it -> {
                assertThat(it.state()).isEqualTo(BackfillState.FAILED);
                assertThat(it.diagnostic().code()).isEqualTo(DiagnosticCode.CONTENTION_EXHAUSTED.wireName());
            });
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"P0001", "40001"})
    void a_committed_batch_resets_both_counts(String state) { // RB-2, RB-5
        AtomicInteger calls = new AtomicInteger();
        try (BackfillHarness harness = failing((batch, tx) -> {
            if (calls.incrementAndGet() == 1) {
                raise(tx.connection(), state);
            }
            return 0;
        })) {
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(StepOutcome.Retrying.class);
            harness.clearRetryDelay(Counters.ID);
            assertThat(worker.step()).isInstanceOf(Committed.class);
            assertThat(harness.row(Counters.ID))
                    .containsEntry("attempts", "0")
                    .containsEntry("contended", "0")
                    .containsEntry("failure_code", null);
        }
    }

    @Test
    void the_delay_is_bounded_grows_by_doubling_and_comes_from_the_servers_clock() throws SQLException { // RB-2
        Counters.fresh(db, 10);
        Guarded guarded = new Guarded(db);
        try (BackfillHarness harness = engine(Counters.custom(4))) {
            for (int attempts : new int[] {1, 2, 3, 40}) {
                double longest = Math.min(60, Math.pow(2, Math.min(30, attempts - 1)));
                double seen = 0;
                for (int i = 0; i < 40; i++) {
                    Rows.put(db, BackfillState.RUNNING, "'{10}'");
                    Rows.claim(db);
                    db.execute("update backfill set attempts = " + attempts);
                    assertThat(guarded.perform(Guarded.Owned.DELAY, Guarded.claimIn(harness.row(Counters.ID))))
                            .isTrue();
                    double delay = Double.parseDouble(
                            db.queryText("select extract(epoch from next_attempt_at - failure_at) from backfill"));
                    assertThat(delay).isBetween(-0.001, longest + 0.001);
                    seen = Math.max(seen, delay);
                }
                // Full jitter over that range; forty draws that all stay in the lower half are no accident (1 in
                // 10^12).
                assertThat(seen).isGreaterThan(longest / 2);
            }
        }
    }

    @Test
    void a_row_in_its_delay_is_left_alone() { // RB-2
        try (BackfillHarness harness = failing((batch, tx) -> {
            throw new IllegalStateException("x");
        })) {
            assertThat(harness.worker("a").step()).isInstanceOf(StepOutcome.Retrying.class);
            db.execute("update backfill set next_attempt_at = now() + interval '1 hour'");
            assertThat(harness.worker("a").step()).isEqualTo(new StepOutcome.NothingToDo());
        }
    }

    @Test
    void release_gives_the_attempt_back_and_a_crash_does_not() throws SQLException { // RB-5, SR-6
        Counters.fresh(db, 10);
        try (BackfillHarness harness = engine(Counters.custom(4));
                Connection writer = db.get()) {
            // A transaction from before the start that is still open: the claim is taken, and nothing else may happen
            // yet.
            writer.setAutoCommit(false);
            try (Statement write = writer.createStatement()) {
                write.execute("insert into counters (id) values (0)");
            }
            harness.start(Counters.ID);
            HarnessWorker a = harness.worker("a");
            assertThat(a.step()).isInstanceOf(StepOutcome.Waits.class);
            assertThat(harness.row(Counters.ID)).containsEntry("attempts", "1");
            a.close();
            assertThat(harness.row(Counters.ID)).containsEntry("attempts", "0").containsEntry("claim_token", null);
            HarnessWorker b = harness.worker("b");
            assertThat(b.step()).isInstanceOf(StepOutcome.Waits.class);
            b.vanish();
            harness.expireLease(Counters.ID);
            assertThat(harness.worker("c").step()).isInstanceOf(StepOutcome.Waits.class);
            assertThat(harness.row(Counters.ID)).containsEntry("attempts", "2");
            assertThat(Counters.hits(db)).isEqualTo("0000000000");
            writer.commit();
        }
    }

    @Test
    void owners_that_vanish_again_and_again_without_progress_end_it_in_failed() { // RB-5
        Gate never = new Gate();
        Counters.fresh(db, 10);
        try (BackfillHarness harness = engine(Counters.custom(4, (batch, tx) -> {
            never.hold();
            return 0;
        }))) {
            harness.start(Counters.ID);
            for (int i = 0; i < 3; i++) {
                // As its process would leave it: a claim, an attempt, and nobody behind it.
                db.execute("update backfill set generation = generation + 1, claim_token = '" + Rows.TOKEN
                        + "', claim_owner = 'dead', claimed_at = now(), claim_expires_at = now() - interval '1 s',"
                        + " attempts = attempts + 1");
            }
            assertThat(harness.worker("d").step()).isEqualTo(new StepOutcome.NothingToDo());
            assertThat(harness.row(Counters.ID))
                    .containsEntry("state", "failed")
                    .containsEntry("failure_code", DiagnosticCode.OWNER_LOST_REPEATEDLY.wireName())
                    .containsEntry("claim_token", null);
            assertThat(harness.auditRecords(Counters.ID))
                    .last()
                    .satisfies(entry -> assertThat(entry)
                            .containsEntry("action", "fail")
                            .containsEntry("note", DiagnosticCode.OWNER_LOST_REPEATEDLY.wireName()));
        }
    }

    @Test
    void one_row_that_cannot_be_ended_does_not_hold_up_the_others() { // CL-1, RB-5
        Counters.fresh(db, 10);
        BackfillDefinition<Long> other = Counters.over("counters.zz.v1")
                .batchSize(4)
                .repair((batch, tx) -> 0)
                .validate(Validation.noRowMatches("false"))
                .build();
        try (BackfillHarness harness = engine(Counters.custom(4), other)) {
            harness.start(Counters.ID);
            harness.start(other.id());
            harness.tamper(Counters.ID, "attempts", "3");
            db.execute("alter table backfill_audit add constraint no_fail check (action <> 'fail') not valid");
            try {
                assertThat(harness.worker("a").step()).isEqualTo(new Committed(other.id(), 4, 0, false));
                assertThat(harness.state(Counters.ID)).isEqualTo(BackfillState.RUNNING);
            } finally {
                db.execute("alter table backfill_audit drop constraint no_fail");
            }
        }
    }

    @Test
    void the_definitions_own_words_block_or_retry_it_and_are_cleaned_and_bounded() { // RB-4, AU-5
        try (BackfillHarness harness = failing((batch, tx) -> {
            throw new BlockedException("Create the index first.\u0000\u0007\n" + "x".repeat(5_000));
        })) {
            assertThat(harness.worker("a").step()).isInstanceOfSatisfying(StepOutcome.Ended.class, it -> {
                assertThat(it.state()).isEqualTo(BackfillState.BLOCKED);
                assertThat(it.diagnostic().code()).isEqualTo(DiagnosticCode.BLOCKED_BY_DEFINITION.wireName());
                assertThat(it.diagnostic().message())
                        .startsWith("Create the index first.")
                        .hasSizeLessThanOrEqualTo(1_024)
                        .doesNotContain("\u0000", "\u0007");
            });
        }
        try (BackfillHarness harness = failing((batch, tx) -> {
            throw new RetryableException("The other service is away.");
        })) {
            assertThat(harness.worker("a").step())
                    .isInstanceOfSatisfying(
                            StepOutcome.Retrying.class,
                            it -> assertThat(it.diagnostic().code())
                                    .isEqualTo(DiagnosticCode.RETRY_REQUESTED.wireName()));
        }
    }
}
