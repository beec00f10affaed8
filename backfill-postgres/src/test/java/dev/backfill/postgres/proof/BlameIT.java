package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.InvalidDefinitionException;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.EngineOptions;
import dev.backfill.host.StepOutcome;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Whose fault it is: a row's, the definition's, the schema's, or that of whoever has no connection to give. */
@PostgresTest
class BlameIT {

    private final TestDatabase db;

    BlameIT(TestDatabase db) {
        this.db = db;
    }

    private BackfillHarness engine(BackfillDefinition<?>... definitions) {
        return BackfillHarness.over(db)
                .definitions(definitions)
                .options(o -> o.maxAttempts(3).contentionBudget(4))
                .open();
    }

    private void trigger(String kind, String body) {
        db.execute("create or replace function judge() returns trigger language plpgsql as $$ declare x int; begin "
                + body + "; return new; end $$");
        db.execute("create " + kind + " on counters " + (kind.startsWith("constraint") ? "initially deferred " : "")
                + "for each row execute function judge()");
    }

    private static void blockedWithKey(StepOutcome outcome, String condition) {
        assertThat(outcome).isInstanceOfSatisfying(StepOutcome.Ended.class, it -> {
            assertThat(it.state()).isEqualTo(BackfillState.BLOCKED);
            assertThat(it.diagnostic().code()).isEqualTo(DiagnosticCode.DATA_ERROR.wireName());
            assertThat(it.diagnostic().message()).contains("Key (" + condition + ")");
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "raise exception 'x'",
                "case new.id when 14 then case 1 when 2 then end case; else end case",
                "x := (select id from counters)",
                "execute 'select 1 from nowhere'",
                "raise exception 'x' using errcode = 'XX000'"
            })
    void a_row_whose_trigger_fails_is_named_whatever_the_sqlstate(String failure) { // RB-4
        Counters.fresh(db, 20);
        trigger("trigger j before update", "if new.id = 14 then " + failure + "; end if");
        try (BackfillHarness harness = engine(Counters.set(8))) {
            harness.start(Counters.ID);
            blockedWithKey(Counters.lastStep(harness.worker("a")), "id = 14");
            assertThat(Counters.hits(db)).isEqualTo("11111111111110000000");
            assertThat(db.queryText("select hits::text from counters where id = 14"))
                    .isEqualTo("0");
            db.execute("drop trigger j on counters");
            harness.retry(Counters.ID);
            harness.runToCompletion(Counters.ID);
            assertThat(Counters.hits(db)).isEqualTo("1".repeat(20));
        }
    }

    @Test
    void a_row_that_fails_at_commit_is_named() { // RB-4, AT-3
        Counters.fresh(db, 20);
        trigger("constraint trigger j after update", "if new.id = 14 then raise exception 'x'; end if");
        try (BackfillHarness harness = engine(Counters.set(8))) {
            harness.start(Counters.ID);
            blockedWithKey(Counters.lastStep(harness.worker("a")), "id = 14");
            assertThat(Counters.hits(db)).isEqualTo("11111111111110000000");
        }
    }

    @Test
    void an_error_at_commit_that_stays_with_every_row_is_the_definitions() { // RB-4
        Counters.fresh(db, 20);
        trigger("constraint trigger j after update", "raise exception 'x'");
        try (BackfillHarness harness = engine(Counters.set(8))) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            for (int i = 0; i < 4; i++) {
                assertThat(worker.step()).isInstanceOf(StepOutcome.Retrying.class);
            }
            assertThat(harness.row(Counters.ID))
                    .containsEntry("failure_code", "definition-error")
                    .containsEntry("state", "running")
                    .containsEntry("claim_token", null);
        }
    }

    @Test
    void bad_rows_beside_each_other_are_rows_all_the_same() { // RB-4
        Counters.fresh(db, 20);
        trigger("trigger j before update", "if new.id between 1 and 3 then raise exception 'x'; end if");
        try (BackfillHarness harness = engine(Counters.set(8))) {
            harness.start(Counters.ID);
            blockedWithKey(Counters.lastStep(harness.worker("a")), "id = 1");
        }
    }

    @Test
    void a_key_for_which_own_code_fails_is_named() { // RB-4
        Counters.fresh(db, 20);
        BackfillDefinition<Long> definition = Counters.custom(8, (batch, tx) -> {
            if (batch.keys().contains(14L)) {
                throw new IllegalStateException("x");
            }
            return 0;
        });
        try (BackfillHarness harness = engine(definition)) {
            harness.start(Counters.ID);
            blockedWithKey(Counters.lastStep(harness.worker("a")), "id = 14");
            assertThat(Counters.hits(db)).isEqualTo("11111111111110000000");
        }
    }

    @Test
    void a_compound_key_is_named_so_that_a_select_can_be_written_from_it() { // RB-4
        Counters.fresh(db, 1);
        db.execute("drop table if exists pairs");
        db.execute("create table pairs (a bigint, b text collate \"C\", n int default 0, primary key (a, b))");
        db.execute("insert into pairs select 1, 'it''s ' || i from generate_series(1, 9) as i");
        BackfillDefinition<?> definition = Backfill.define(Counters.ID.value())
                .over("pairs", Keys.compound(Keys.bigint("a"), Keys.text("b", "C")))
                .batchSize(4)
                .repair(Repair.update().set("n", "1 / (b <> 'it''s 6')::int").where("n = 0"))
                .validate(Validation.noRowMatches("n = 0"))
                .build();
        try (BackfillHarness harness = engine(definition)) {
            harness.start(Counters.ID);
            StepOutcome outcome = Counters.lastStep(harness.worker("a"));
            blockedWithKey(outcome, "a = 1 and b = 'it''s 6'");
            assertThat(db.queryText("select count(*)::text from pairs where a = 1 and b = 'it''s 6'"))
                    .isEqualTo("1");
        }
    }

    @Test
    void a_window_that_is_too_large_for_the_hosts_memory_is_halved_under_the_same_claim() { // RB-4, BB-6
        Counters.fresh(db, 8);
        BackfillDefinition<Long> definition = Counters.custom(8, (batch, tx) -> {
            if (batch.size() > 2) {
                throw new OutOfMemoryError("x");
            }
            return 0;
        });
        try (BackfillHarness harness = engine(definition)) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            worker.step();
            worker.step();
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 2, 2, false));
            assertThat(harness.row(Counters.ID)).containsEntry("generation", "2");
        }
    }

    @Test
    void a_window_that_is_too_large_for_the_servers_memory_is_halved_for_the_next_claim() { // RB-3, BB-4
        Counters.fresh(db, 8);
        BackfillDefinition<Long> definition = Counters.custom(8, (batch, tx) -> {
            if (batch.size() > 4) {
                throw new SQLException("x", "53200");
            }
            return 0;
        });
        try (BackfillHarness harness = engine(definition)) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(StepOutcome.Retrying.class);
            harness.clearRetryDelay(Counters.ID);
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
        }
    }

    @Test
    void a_session_that_ended_while_own_code_took_its_time_is_the_codes_and_the_window_is_halved() { // BB-2, RB-4
        Counters.fresh(db, 8);
        AtomicInteger sizes = new AtomicInteger();
        BackfillDefinition<Long> definition = Counters.custom(8, (batch, tx) -> {
            if (batch.size() > 4) {
                dev.backfill.testkit.Eventually.until(
                        "the idle session is ended",
                        () -> db.queryBoolean(
                                "select not exists (select from pg_stat_activity where application_name like"
                                        + " 'backfill #%')"));
                sizes.incrementAndGet();
                // As a driver says it that was about to send much.
                throw new SQLException("broken pipe", "08006");
            }
            return 0;
        });
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(definition)
                .options(o -> o.idleInTransactionTimeout(Duration.ofMillis(700)))
                .open()) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step())
                    .isInstanceOfSatisfying(
                            StepOutcome.Retrying.class,
                            it -> assertThat(it.diagnostic().code()).isEqualTo("deadline-passed"));
            assertThat(harness.row(Counters.ID)).containsEntry("contended", "0");
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
            assertThat(sizes).hasValue(1);
        }
    }

    @Test
    void the_keys_of_a_window_are_decoded_once() { // BB-2
        Counters.fresh(db, 8);
        AtomicBoolean same = new AtomicBoolean();
        BackfillDefinition<Long> definition = Counters.custom(8, (batch, tx) -> {
            List<Long> first = batch.keys();
            same.set(first == batch.keys());
            return 0;
        });
        try (BackfillHarness harness = engine(definition)) {
            harness.start(Counters.ID);
            assertThat(harness.worker("a").step()).isInstanceOf(Committed.class);
            assertThat(same).isTrue();
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"28P01", "28000", "3D000", "XX000", "42501", "Error"})
    void a_connection_that_cannot_be_had_is_an_outage_whatever_its_sqlstate(String state) { // RB-3, RB-4
        Counters.fresh(db, 8);
        AtomicBoolean refuses = new AtomicBoolean();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Counters.custom(8))
                .connections(() -> {
                    boolean batch = StackWalker.getInstance()
                            .walk(frames ->
                                    frames.anyMatch(f -> f.getClassName().endsWith(".BatchRunner")));
                    if (batch && refuses.get()) {
                        if (state.equals("Error")) {
                            throw new NoClassDefFoundError("x");
                        }
                        throw new SQLException("x", state);
                    }
                    return db.get();
                })
                .open()) {
            harness.start(Counters.ID);
            refuses.set(true);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOfSatisfying(StepOutcome.Retrying.class, it -> {
                assertThat(it.diagnostic().code()).isEqualTo("infrastructure");
                assertThat(it.diagnostic().message()).contains("no connection could be had");
            });
            assertThat(harness.row(Counters.ID)).containsEntry("attempts", "0").containsEntry("contended", "1");
            refuses.set(false);
            harness.clearRetryDelay(Counters.ID);
            assertThat(worker.step()).isInstanceOf(Committed.class);
        }
    }

    @Test
    void a_stored_key_that_its_type_no_longer_knows_is_the_schemas_and_named() { // SR-9, RB-4
        Counters.fresh(db, 1);
        db.execute("drop table if exists moods; drop type if exists mood");
        db.execute("create type mood as enum ('bad', 'fair', 'good', 'best')");
        db.execute("create table moods (m mood primary key, n int default 0)");
        db.execute("insert into moods values ('bad'), ('fair'), ('good'), ('best')");
        BackfillDefinition<?> definition = Backfill.define(Counters.ID.value())
                .over("moods", Keys.enumerated("m", "mood"))
                .batchSize(2)
                .repair(Repair.update().set("n", "1").where("n = 0"))
                .validate(Validation.noRowMatches("n = 0"))
                .build();
        try (BackfillHarness harness = engine(definition)) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
            db.execute("alter type mood rename value 'fair' to 'middling'");
            assertThat(worker.step()).isInstanceOfSatisfying(StepOutcome.Ended.class, it -> {
                assertThat(it.state()).isEqualTo(BackfillState.BLOCKED);
                assertThat(it.diagnostic().code()).isEqualTo("incompatible-schema");
                assertThat(it.diagnostic().message()).contains("stored checkpoint (fair)", "table moods");
            });
            db.execute("alter type mood rename value 'middling' to 'fair'");
            harness.retry(Counters.ID);
            harness.runToCompletion(Counters.ID);
        }
    }

    @Test
    void a_column_whose_type_changed_under_the_repair_is_the_schemas() { // CF-8, RB-4
        Counters.fresh(db, 8);
        BackfillDefinition<Long> definition = Counters.over(Counters.ID.value())
                .batchSize(4)
                .repair(Repair.update().set("hits", "hits + amount").where("hits = 0"))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
        try (BackfillHarness harness = engine(definition)) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
            db.execute("alter table counters alter column amount drop default, alter column amount type text");
            StepOutcome outcome = Counters.lastStep(worker);
            assertThat(outcome).isInstanceOfSatisfying(StepOutcome.Ended.class, it -> {
                assertThat(it.state()).isEqualTo(BackfillState.BLOCKED);
                assertThat(it.diagnostic().code()).isEqualTo("incompatible-schema");
                assertThat(it.diagnostic().message()).contains("PostgreSQL refuses the SQL of the repair", "42883");
            });
            assertThat(harness.row(Counters.ID)).containsEntry("generation", "3");
        }
    }

    @Test
    void a_statement_at_its_limit_is_too_slow_and_its_dearest_scan_is_named() { // RB-3, BB-2
        Counters.fresh(db, 8);
        db.execute("drop table if exists lookups; create table lookups (id bigint, n int)");
        db.execute("insert into lookups select i, 0 from generate_series(1, 2000) as i; analyze lookups, counters");
        BackfillDefinition<Long> definition = Counters.over(Counters.ID.value())
                .batchSize(2)
                .repair(Repair.update()
                        .set(
                                "hits",
                                "(select 1 from lookups as l where l.id = counters.id and pg_sleep(60) is not null)")
                        .where("hits = 0"))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(definition)
                .options(o -> o.maxAttempts(2).statementTimeout(Duration.ofMillis(600)))
                .open()) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOfSatisfying(StepOutcome.Retrying.class, it -> {
                assertThat(it.diagnostic().code()).isEqualTo("statement-too-slow");
                assertThat(it.diagnostic().message()).contains("Seq Scan on lookups");
            });
            assertThat(harness.row(Counters.ID)).containsEntry("contended", "1");
            for (int i = 0; i < 2; i++) {
                harness.clearRetryDelay(Counters.ID);
                worker.step();
            }
            assertThat(harness.row(Counters.ID))
                    .containsEntry("state", "failed")
                    .containsEntry("failure_code", "statement-too-slow");
        }
    }

    @Test
    void a_lookup_without_an_index_is_refused_before_the_start() { // CF-8, BB-2
        Counters.fresh(db, 4_000);
        db.execute("drop table if exists lookups; create table lookups (id bigint, n int)");
        db.execute("insert into lookups select i, 0 from generate_series(1, 60000) as i; analyze lookups, counters");
        BackfillDefinition<Long> definition = Counters.over(Counters.ID.value())
                .batchSize(1_000)
                .repair(Repair.update()
                        .set("hits", "(select max(l.n) + 1 from lookups as l where l.id = counters.id)")
                        .where("hits = 0"))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
        try (BackfillHarness harness = engine(definition)) {
            assertThat(harness.operations()
                            .preflight(BackfillHarness.OPERATOR, Counters.ID)
                            .errors())
                    .extracting(finding -> finding.code().wireName())
                    .containsExactly("lookup_reads_table");
            db.execute("create index on lookups (id); analyze lookups");
            assertThat(harness.operations()
                            .preflight(BackfillHarness.OPERATOR, Counters.ID)
                            .errors())
                    .isEmpty();
        }
    }

    @Test
    void a_connection_that_is_handed_out_twice_is_the_sources_fault() throws SQLException { // RB-3
        try (Connection shared = db.get()) {
            Sessions sessions = new Sessions(() -> shared, true);
            try (Session first = sessions.open(Duration.ofSeconds(10))) {
                assertThatThrownBy(() -> sessions.open(Duration.ofSeconds(10)))
                        .isInstanceOf(SQLException.class)
                        .hasMessageContaining("in use already");
                assertThat(first.connection().isClosed()).isFalse();
            }
        }
    }

    @Test
    void a_duration_beyond_the_stated_limit_is_refused_by_name() { // CF-8
        for (Duration duration : new Duration[] {Duration.ofHours(25), Duration.ofSeconds(Long.MAX_VALUE)}) {
            assertThatThrownBy(() -> EngineOptions.builder().lease(duration))
                    .isInstanceOf(InvalidDefinitionException.class)
                    .hasMessageContaining("lease must be 10 ms to 1 day");
        }
    }
}
