package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.BackfillDefinition;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What is too much for one batch becomes smaller ones; what is nobody's fault costs nothing. */
@PostgresTest
class NarrowingIT {

    private final TestDatabase db;

    NarrowingIT(TestDatabase db) {
        this.db = db;
    }

    private BackfillHarness engine(BackfillDefinition<?>... definitions) {
        return BackfillHarness.over(db)
                .definitions(definitions)
                .options(o -> o.maxAttempts(3).contentionBudget(4))
                .open();
    }

    private BackfillDefinition<Long> poisoned(String style) {
        BackfillDefinition.Builder<Long> builder =
                Counters.over(Counters.ID.value()).batchSize(8);
        switch (style) {
            case "set" ->
                builder.repair(Repair.update().set("hits", "hits + 1 / amount").where("true"));
            case "row" ->
                builder.repair(Repair.rows()
                        .reading("amount")
                        .writing("hits", row -> 1 / Integer.parseInt(String.valueOf(row.text("amount")))));
            default ->
                builder.repair((batch, tx) -> {
                    try (var statement = tx.connection()
                            .prepareStatement("update counters set hits = hits + 1 / amount where id = any (?)")) {
                        statement.setArray(
                                1,
                                tx.connection()
                                        .createArrayOf("bigint", batch.keys().toArray()));
                        return statement.executeUpdate();
                    }
                });
        }
        return builder.validate(Validation.noRowMatches("hits <> 1")).build();
    }

    @ParameterizedTest
    @ValueSource(strings = {"set", "row", "custom"})
    void a_row_that_cannot_be_repaired_is_narrowed_to_its_key_and_the_rows_before_it_are_kept(String style) { // RB-4
        Counters.fresh(db, 20);
        db.execute("update counters set amount = 0 where id = 14");
        try (BackfillHarness harness = engine(poisoned(style))) {
            harness.start(Counters.ID);
            StepOutcome outcome = Counters.lastStep(harness.worker("a"));
            assertThat(outcome).isInstanceOfSatisfying(StepOutcome.Ended.class, it -> {
                assertThat(it.state()).isEqualTo(BackfillState.BLOCKED);
                assertThat(it.diagnostic().code()).isEqualTo(DiagnosticCode.DATA_ERROR.wireName());
                assertThat(it.diagnostic().message()).contains("Key (id = 14)");
            });
            assertThat(harness.row(Counters.ID)).containsEntry("checkpoint", "{13}");
            assertThat(Counters.hits(db)).isEqualTo("11111111111110000000");
            db.execute("update counters set amount = 1 where id = 14");
            harness.retry(Counters.ID);
            harness.runToCompletion(Counters.ID);
            assertThat(Counters.hits(db)).isEqualTo("1".repeat(20));
        }
    }

    @Test
    void text_that_has_no_encoding_is_a_data_error_and_not_a_question_mark() { // RB-4, SR-4
        Counters.fresh(db, 3);
        BackfillDefinition<Long> definition = Counters.over(Counters.ID.value())
                .batchSize(8)
                .repair(Repair.rows()
                        .reading("id")
                        .writing(
                                "note",
                                row -> "2".equals(row.text("id")) ? "\uD83D\uDE00".substring(0, 1) : "\uD83D\uDE00"))
                .validate(Validation.noRowMatches("note is null"))
                .build();
        try (BackfillHarness harness = engine(definition)) {
            harness.start(Counters.ID);
            StepOutcome outcome = Counters.lastStep(harness.worker("a"));
            assertThat(outcome).isInstanceOfSatisfying(StepOutcome.Ended.class, it -> {
                assertThat(it.diagnostic().code()).isEqualTo(DiagnosticCode.DATA_ERROR.wireName());
                assertThat(it.diagnostic().message()).contains("Key (id = 2)", "note");
            });
            assertThat(db.queryTexts("select note from counters where note is not null"))
                    .containsExactly("\uD83D\uDE00");
        }
    }

    @Test
    void a_value_too_large_for_an_index_is_a_data_error_with_its_key() { // RB-4
        Counters.fresh(db, 10);
        db.execute("create index on counters (note)");
        var definition = Counters.over(Counters.ID.value())
                .batchSize(4)
                .repair(Repair.rows()
                        .reading("id")
                        .writing("note", row -> "3".equals(row.text("id")) ? noise() : "short"))
                .validate(Validation.noRowMatches("note is null"))
                .build();
        try (BackfillHarness harness = engine(definition)) {
            harness.start(Counters.ID);
            StepOutcome outcome = Counters.lastStep(harness.worker("a"));
            assertThat(outcome)
                    .isInstanceOfSatisfying(
                            StepOutcome.Ended.class,
                            it -> assertThat(it.diagnostic().message()).contains("Key (id = 3)"));
        }
    }

    /** Text that does not compress. */
    private static String noise() {
        StringBuilder text = new StringBuilder();
        new java.util.Random(7).ints(20_000, 'a', 'z').forEach(c -> text.append((char) c));
        return text.toString();
    }

    @Test
    void a_window_that_takes_too_long_is_halved_until_it_fits() { // BB-2, BB-4
        Counters.fresh(db, 8);
        var definition = Counters.over(Counters.ID.value())
                .batchSize(8)
                .repair((batch, tx) -> {
                    if (batch.size() > 2) {
                        try (Statement statement = tx.connection().createStatement()) {
                            statement.execute("select pg_sleep(60)");
                        }
                    }
                    return Counters.count(tx, batch.keys());
                })
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(definition)
                .options(o -> o.statementTimeout(Duration.ofMillis(600)))
                .open()) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            for (int i = 0; i < 2; i++) {
                assertThat(worker.step())
                        .isInstanceOfSatisfying(
                                StepOutcome.Retrying.class,
                                it -> assertThat(it.diagnostic().sqlState()).isEqualTo("57014"));
                harness.clearRetryDelay(Counters.ID);
            }
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 2, 2, false));
        }
    }

    @Test
    void a_window_whose_java_takes_too_long_is_halved_too() { // BB-2, BB-4
        Counters.fresh(db, 8);
        var definition = Counters.custom(8, (batch, tx) -> {
            if (batch.size() > 4) {
                // Until the server has had enough of a transaction that does nothing.
                Eventually.until(
                        "the idle session is ended",
                        () -> db.queryBoolean("select not exists (select 1 from"
                                + " pg_stat_activity where application_name like 'backfill #%')"));
            }
            return 0;
        });
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(definition)
                .options(o -> o.idleInTransactionTimeout(Duration.ofMillis(700)))
                .open()) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(StepOutcome.Retrying.class);
            harness.clearRetryDelay(Counters.ID);
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
        }
    }

    @Test
    void a_plan_that_a_schema_change_made_stale_is_tried_again_on_a_fresh_connection() { // RB-3
        Counters.fresh(db, 12);
        var definition = Counters.custom(4, (batch, tx) -> {
            try (var statement = tx.connection().prepareStatement("select amount from counters where id = ?")) {
                for (long key : batch.keys()) {
                    statement.setLong(1, key);
                    statement.executeQuery().close();
                }
            }
            return 0;
        });
        HikariConfig pool = new HikariConfig();
        pool.setJdbcUrl(db.jdbcUrl());
        pool.setMaximumPoolSize(2);
        pool.addDataSourceProperty("prepareThreshold", "1");
        try (HikariDataSource source = new HikariDataSource(pool);
                BackfillHarness harness = BackfillHarness.over(db)
                        .connections(source::getConnection)
                        .definitions(definition)
                        .open()) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
            db.execute("alter table counters alter column amount type bigint");
            StepOutcome stale = worker.step();
            if (stale instanceof StepOutcome.Retrying retrying) {
                assertThat(retrying.diagnostic().sqlState()).isEqualTo("0A000");
                harness.clearRetryDelay(Counters.ID);
            }
            worker.close();
            harness.runToCompletion(Counters.ID);
            assertThat(Counters.hits(db)).isEqualTo("1".repeat(12));
        }
    }

    @Test
    void what_the_driver_can_not_do_is_the_definitions_error_and_no_outage() { // RB-2
        Counters.fresh(db, 10);
        var definition = Counters.custom(10, (batch, tx) -> {
            tx.connection().createBlob();
            return 0;
        });
        try (BackfillHarness harness = engine(definition)) {
            harness.start(Counters.ID);
            assertThat(harness.worker("a").step())
                    .isInstanceOfSatisfying(
                            StepOutcome.Retrying.class,
                            it -> assertThat(it.diagnostic().code()).isEqualTo("definition-error"));
        }
    }

    @Test
    void a_column_that_was_not_read_is_said_in_the_librarys_own_words_and_where() { // RB-1, AU-5
        Counters.fresh(db, 10);
        var definition = Counters.over(Counters.ID.value())
                .repair(dev.backfill.Repair.rows().reading("hits").writing("note", row -> row.text("secret-name")))
                .validate(dev.backfill.Validation.noRowMatches("false"))
                .build();
        try (BackfillHarness harness = engine(definition)) {
            harness.start(Counters.ID);
            assertThat(harness.worker("a").step())
                    .isInstanceOfSatisfying(
                            StepOutcome.Retrying.class,
                            it -> assertThat(it.diagnostic().message())
                                    .contains(
                                            "Repair.rows().reading(...). Name it there.",
                                            "Called at " + getClass().getName())
                                    .doesNotContain("secret-name"));
        }
    }

    @Test
    void a_repair_that_close_interrupts_gives_its_claim_and_its_attempt_back() throws Exception { // RB-5, BB-3
        Counters.fresh(db, 10);
        Gate arrived = new Gate();
        var definition = Counters.custom(4, (batch, tx) -> {
            arrived.open();
            new java.util.concurrent.CountDownLatch(1).await();
            return 0;
        });
        BackfillHarness harness = BackfillHarness.over(db)
                .definitions(definition)
                .options(o -> o.workers(1).closeTimeout(Duration.ofSeconds(2)).maxAttempts(3))
                .open();
        harness.start(Counters.ID);
        arrived.hold();
        harness.close();
        Eventually.until("the claim is given back", () -> db.queryBoolean("select claim_token is null from backfill"));
        Map<String, String> row = db.queryRows("select * from backfill").get(0);
        assertThat(row)
                .containsEntry("attempts", "0")
                .containsEntry("failure_code", null)
                .containsEntry("next_attempt_at", null);
        assertThat(Counters.hits(db)).isEqualTo("0000000000");
    }

    @Test
    void a_row_restored_from_another_cluster_does_not_wait_for_its_transactions() { // SR-6
        Counters.fresh(db, 10);
        try (BackfillHarness harness = engine(Counters.custom(4))) {
            harness.start(Counters.ID);
            // As a dump brings it along: this server has not come to that transaction ID yet.
            db.execute("update backfill set bound_xmax = 9000000000");
            harness.runToCompletion(Counters.ID);
            assertThat(Counters.hits(db)).isEqualTo("1111111111");
        }
    }
}
