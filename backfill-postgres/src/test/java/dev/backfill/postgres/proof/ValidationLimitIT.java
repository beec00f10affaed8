package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.Validation;
import dev.backfill.ValidationOutcome;
import dev.backfill.host.EngineOptions;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.ValidationReport;
import dev.backfill.operate.ValidationReport.CurrentState;
import dev.backfill.operate.ValidationReport.Reason;
import dev.backfill.postgres.internal.jdbc.Limits;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.Asked;
import dev.backfill.postgres.internal.row.Jooq;
import dev.backfill.postgres.internal.row.LastValidationSql;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A validation that takes too long, and one that has nothing to do with its neighbours. */
@PostgresTest
class ValidationLimitIT {

    private final TestDatabase db;

    ValidationLimitIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void fresh() {
        Counters.fresh(db, 10);
    }

    private static BackfillDefinition<Long> waiting(String sql) {
        return Counters.validatedBy(tx -> {
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute(sql);
            }
            return ValidationOutcome.holds();
        });
    }

    private BackfillHarness brief(BackfillDefinition<Long> definition) {
        return BackfillHarness.over(db)
                .definitions(definition)
                .options(o -> o.validationTimeout(Duration.ofMillis(300)).maxAttempts(1))
                .open();
    }

    @Test
    void one_that_takes_too_long_is_called_so_and_charged() { // RB-2, RB-6
        try (BackfillHarness harness = brief(waiting("select pg_sleep(600)"))) {
            harness.start(Counters.ID);
            Counters.lastStep(harness.worker("a"));
            harness.clearRetryDelay(Counters.ID);
            // The claim under which it ran had made progress, so that only the second one is the last.
            Counters.lastStep(harness.worker("b"));
            Map<String, @Nullable String> row = harness.row(Counters.ID);
            assertThat(row)
                    .containsEntry("failure_code", "validation-timed-out")
                    .containsEntry("state", "failed");
            assertThat(row).containsEntry("contended", "0");
        }
    }

    @Test
    void one_that_an_operator_asked_for_says_that_its_time_was_over() { // EV-6
        try (BackfillHarness harness = brief(waiting("select pg_sleep(600)"))) {
            Rows.put(db, BackfillState.PAUSED);
            assertThat(harness.validate(Counters.ID))
                    .isInstanceOfSatisfying(
                            CurrentState.class, it -> assertThat(it.reason()).isEqualTo(Reason.TIMED_OUT));
        }
    }

    @Test
    void a_limit_of_the_role_gives_way_to_the_engines_own() throws Exception { // BB-2
        assumeThat(db.majorVersion()).isGreaterThanOrEqualTo(17);
        Limits limits = Limits.ofOneLongStatement(Duration.ofMinutes(5), Duration.ofSeconds(1));
        try (Connection connection = db.connection();
                Statement statement = connection.createStatement()) {
            statement.execute("set transaction_timeout = '1s'");
            connection.setAutoCommit(false);
            statement.execute("select " + limits.asSelectItems());
            try (ResultSet row =
                    statement.executeQuery("select current_setting('transaction_timeout'), pg_sleep(1.2)")) {
                row.next();
                assertThat(row.getString(1)).isEqualTo("300250ms");
            }
        }
    }

    /** An engine whose tables are in another schema, where its row gets the number that it has in the first. */
    private BackfillHarness elsewhere(BackfillDefinition<Long> definition) {
        db.execute("drop schema if exists elsewhere cascade; create schema elsewhere");
        BackfillHarness.over(db).schemaName("elsewhere").open().close();
        db.execute("alter table elsewhere.backfill alter column no restart with "
                + db.queryLong("select no from backfill"));
        return BackfillHarness.over(db)
                .definitions(definition)
                .schemaName("elsewhere")
                .open();
    }

    private static BackfillDefinition<Long> heldAs(String id, Gate gate) {
        return Counters.over(id)
                .repair((batch, tx) -> 0)
                .validate((Validation.Custom<Long>) tx -> {
                    gate.hold();
                    return ValidationOutcome.holds();
                })
                .build();
    }

    @Test
    void the_same_number_in_another_schema_is_another_slot() throws Exception { // EV-4
        Gate gate = new Gate();
        Validation.Custom<Long> held = tx -> {
            gate.hold();
            return ValidationOutcome.holds();
        };
        try (BackfillHarness here = BackfillHarness.on(db, Counters.validatedBy(held));
                BackfillHarness there = elsewhere(waiting("select 1"))) {
            assertThat(db.queryLong("select no from elsewhere.backfill"))
                    .isEqualTo(db.queryLong("select no from backfill"));
            here.start(Counters.ID);
            here.worker("a").step();
            there.start(Counters.ID);
            there.worker("a").step();
            CompletableFuture<ValidationReport> first = CompletableFuture.supplyAsync(() -> here.validate(Counters.ID));
            gate.awaitArrival();
            assertThat(there.validate(Counters.ID)).isInstanceOf(ValidationReport.Success.class);
            gate.open();
            assertThat(first.get(60, TimeUnit.SECONDS)).isInstanceOf(ValidationReport.Success.class);
        } finally {
            gate.open();
            db.execute("drop schema elsewhere cascade");
        }
    }

    @Test
    void one_for_which_there_is_no_thread_is_in_the_audit_as_one_without_a_result() throws Exception { // EV-6, AU-3
        Gate first = new Gate();
        Gate second = new Gate();
        BackfillDefinition<Long> one = heldAs("counters.first.v1", first);
        BackfillDefinition<Long> other = heldAs("counters.second.v1", second);
        try (BackfillHarness harness = BackfillHarness.on(db, one, other, waiting("select 1"))) {
            harness.start(one.id());
            harness.start(other.id());
            // The barrier is up from the first claim on.
            harness.worker("a").step();
            harness.worker("b").step();
            CompletableFuture<ValidationReport> once = CompletableFuture.supplyAsync(() -> harness.validate(one.id()));
            first.awaitArrival();
            CompletableFuture<ValidationReport> twice =
                    CompletableFuture.supplyAsync(() -> harness.validate(other.id()));
            second.awaitArrival();
            harness.start(Counters.ID);
            assertThat(harness.validate(Counters.ID))
                    .isInstanceOfSatisfying(
                            CurrentState.class, it -> assertThat(it.reason()).isEqualTo(Reason.UNAVAILABLE));
            // Of one that is under way, that is what is said, whether there is a thread or not.
            assertThat(harness.validate(one.id()))
                    .isInstanceOfSatisfying(
                            CurrentState.class, it -> assertThat(it.reason()).isEqualTo(Reason.ALREADY_RUNNING));
            assertThat(harness.auditRecords(Counters.ID))
                    .extracting(r -> r.get("action") + " " + r.get("outcome"))
                    .containsExactly("start applied", "validate applied", "validate current_state");
            first.open();
            second.open();
            assertThat(once.get(60, TimeUnit.SECONDS)).isInstanceOf(ValidationReport.Success.class);
            assertThat(twice.get(60, TimeUnit.SECONDS)).isInstanceOf(ValidationReport.Success.class);
        } finally {
            first.open();
            second.open();
        }
    }

    @Test
    void the_end_of_one_does_not_hide_the_next_that_has_begun() throws Exception { // EV-5
        BackfillHarness.on(db, waiting("select 1")).close();
        LastValidationSql last = new LastValidationSql(new Jooq(new Names("public")));
        Transactions transactions = new Transactions(
                new Sessions(db, true),
                Limits.ofControl(EngineOptions.defaults(), Duration.ofSeconds(1)),
                Duration.ofSeconds(5));
        transactions.inTransaction(session -> {
            last.begin(session, Asked.of(BackfillAction.VALIDATE, BackfillHarness.request(Counters.ID, "former")));
            last.begin(session, Asked.of(BackfillAction.VALIDATE, BackfillHarness.request(Counters.ID, "next")));
            last.end(
                    session,
                    Asked.of(BackfillAction.VALIDATE, BackfillHarness.request(Counters.ID, "former")),
                    "success",
                    null);
            return true;
        });
        assertThat(db.queryText("select request_id || ' ' || running_request_id from backfill_validation"))
                .isEqualTo("former next");
    }

    @Test
    void a_renewal_that_the_hosts_pool_refuses_is_tried_again() throws Exception { // CL-4
        Gate gate = new Gate();
        AtomicInteger renewals = new AtomicInteger();
        Duration second = Duration.ofSeconds(1);
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Counters.validatedBy(tx -> {
                    gate.hold();
                    return ValidationOutcome.holds();
                }))
                .connections(() -> {
                    boolean renewal = StackWalker.getInstance()
                            .walk(frames ->
                                    frames.anyMatch(f -> f.getClassName().endsWith(".Renewer")));
                    if (renewal && renewals.getAndIncrement() == 0) {
                        throw new IllegalStateException("a defect of the host's pool");
                    }
                    return db.get();
                })
                .options(o -> o.lease(second.multipliedBy(2))
                        .transactionTimeout(second)
                        .statementTimeout(second))
                .open()) {
            Rows.put(db, BackfillState.VALIDATING);
            Future<StepOutcome> step = harness.worker("a").stepAside();
            gate.awaitArrival();
            String began = harness.row(Counters.ID).get("claim_expires_at");
            Eventually.until(
                    "it is renewed",
                    () -> db.queryBoolean("select claim_expires_at > '" + began + "'::timestamptz from backfill"));
            assertThat(renewals.get()).isGreaterThan(1);
            gate.open();
            assertThat(step.get(60, TimeUnit.SECONDS)).isEqualTo(new StepOutcome.Completed(Counters.ID));
        } finally {
            gate.open();
        }
    }
}
