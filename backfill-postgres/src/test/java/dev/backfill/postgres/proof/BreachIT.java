package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.BackfillDefinition;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Savepoint;
import java.sql.Statement;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every way a definition might break the transaction it was lent: detected, rolled back, blocked, and told what to change. */
@PostgresTest
class BreachIT {

    private static final String REFUSED = "transaction-control-refused";

    private final TestDatabase db;

    BreachIT(TestDatabase db) {
        this.db = db;
    }

    @FunctionalInterface
    private interface Use {
        void of(Connection connection) throws Exception;
    }

    private static Arguments refused(String name, Use use) {
        return breach(name, REFUSED, (batch, tx) -> {
            use.of(tx.connection());
            return 0;
        });
    }

    private static Arguments sql(String sql) {
        return refused(sql, connection -> {
            try (Statement statement = connection.createStatement()) {
                statement.execute(sql);
            }
        });
    }

    private static Arguments breach(String name, String code, Repair.Custom<Long> repair) {
        return Arguments.of(name, code, repair);
    }

    static Stream<Arguments> breaches() {
        return Stream.of(calls(), detours(), oddResults(), commands()).flatMap(some -> some);
    }

    private static Stream<Arguments> calls() {
        return Stream.of(
                refused("commit()", Connection::commit),
                refused("rollback()", Connection::rollback),
                refused("setAutoCommit(true)", c -> c.setAutoCommit(true)),
                refused("close()", Connection::close),
                refused("abort()", c -> c.abort(Runnable::run)),
                refused("setReadOnly", c -> c.setReadOnly(true)),
                refused("isolation", c -> c.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE)),
                refused("unwrap", c -> c.unwrap(org.postgresql.PGConnection.class)),
                refused("setQueryTimeout", c -> {
                    try (Statement statement = c.createStatement()) {
                        statement.setQueryTimeout(1);
                    }
                }),
                refused("prepared commit", c -> c.prepareStatement("commit").execute()),
                refused("batched commit", c -> {
                    try (Statement statement = c.createStatement()) {
                        statement.addBatch("select 1; commit");
                    }
                }));
    }

    private static Stream<Arguments> detours() {
        return Stream.of(
                refused("getConnection().commit()", c -> {
                    try (Statement statement = c.createStatement()) {
                        statement.getConnection().commit();
                    }
                }),
                refused(
                        "getMetaData().getConnection().commit()",
                        c -> c.getMetaData().getConnection().commit()),
                refused("getResultSet().getStatement().getConnection().commit()", c -> {
                    try (Statement statement = c.createStatement();
                            ResultSet rows = statement.executeQuery("select 1")) {
                        rows.getStatement().getConnection().commit();
                    }
                }),
                refused("createArrayOf().getResultSet().getStatement().getConnection().commit()", c -> {
                    try (ResultSet rows =
                            c.createArrayOf("int", new Integer[] {1}).getResultSet()) {
                        rows.getStatement().getConnection().commit();
                    }
                }),
                refused("getTables().getStatement().unwrap", c -> {
                    try (ResultSet tables = c.getMetaData().getTables(null, null, "counters", null)) {
                        tables.getStatement().unwrap(org.postgresql.PGStatement.class);
                    }
                }));
    }

    private static Stream<Arguments> oddResults() {
        return Stream.of(
                refused("swallowed refusal", c -> {
                    try {
                        c.commit();
                    } catch (RuntimeException e) {
                        assertThat(e).hasMessageContaining("Remove it");
                    }
                }),
                breach("swallowed SQL error", "sql-error-swallowed", (batch, tx) -> {
                    try (Statement statement = tx.connection().createStatement()) {
                        statement.execute("select 1 / 0");
                    } catch (SQLException e) {
                        return 0;
                    }
                    return 0;
                }),
                breach("negative count", "changed-count-invalid", (batch, tx) -> -1),
                breach("nonsense count", "changed-count-invalid", (batch, tx) -> Long.MAX_VALUE));
    }

    private static Stream<Arguments> commands() {
        return Stream.of(
                        "/* a /* nested */ comment */ commit",
                        "/* a /* nested */ comment */ set lock_timeout = 0",
                        "select U&\"set\\005fconfig\"('lock_timeout', '0', false)",
                        "COMMIT",
                        "/* x */ -- y\n commit and chain",
                        "select 1; rollback",
                        "select E'\\''; commit; select ''",
                        "select $a1$ ' $a1$; commit",
                        "end",
                        "begin",
                        "set statement_timeout = 0",
                        "set local lock_timeout = 0",
                        "select set_config('lock_timeout', '0', false)",
                        "select pg_advisory_lock(1)",
                        "select \"set_config\"('lock_timeout', '0', false)",
                        "update pg_settings set setting = '0' where name = 'lock_timeout'",
                        "prepare p as select 1",
                        "discard all",
                        "lock counters",
                        "copy counters to program 'cat'",
                        "do $$ begin commit; end $$",
                        "call ends()")
                .map(BreachIT::sql);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("breaches")
    void a_breach_is_rolled_back_and_blocked_with_its_code(
            String name, String code, Repair.Custom<Long> repair) { // AT-2, RB-4
        Counters.fresh(db, 10);
        db.execute("create or replace procedure ends() language plpgsql as 'begin commit; end'");
        var definition = Counters.over(Counters.ID.value())
                .batchSize(4)
                .repair((batch, tx) -> {
                    Counters.count(tx, batch.keys());
                    return repair.repair(batch, tx);
                })
                .validate(dev.backfill.Validation.noRowMatches("hits <> 1"))
                .build();
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(Counters.ID);
            assertThat(harness.worker("a").step()).as(name).isInstanceOfSatisfying(StepOutcome.Ended.class, it -> {
                assertThat(it.state()).isEqualTo(BackfillState.BLOCKED);
                assertThat(it.diagnostic().code()).isEqualTo(code);
                assertThat(it.diagnostic().message()).contains("retry");
            });
            assertThat(Counters.hits(db)).isEqualTo("0000000000");
            assertThat(harness.row(Counters.ID))
                    .containsEntry("checkpoint", null)
                    .containsEntry("state", "blocked");
        }
    }

    @Test
    void a_savepoint_is_the_definitions_own() { // AT-2
        Counters.fresh(db, 10);
        var definition = Counters.custom(4, (batch, tx) -> {
            Savepoint before = tx.connection().setSavepoint();
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute("update counters set hits = hits + 1 / 0");
            } catch (SQLException e) {
                tx.connection().rollback(before);
            }
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute("savepoint mine; update counters set hits = 9; rollback to savepoint mine");
            }
            return 0;
        });
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.runToCompletion(Counters.ID);
            assertThat(Counters.hits(db)).isEqualTo("1111111111");
        }
    }

    @Test
    void the_refusal_names_the_command_that_was_refused() { // RB-4
        Counters.fresh(db, 10);
        var definition = Counters.custom(4, (batch, tx) -> {
            try (Statement statement = tx.connection().createStatement()) {
                statement.execute("select 1; commit; begin");
            }
            return 0;
        });
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(Counters.ID);
            assertThat(harness.worker("a").step())
                    .isInstanceOfSatisfying(
                            StepOutcome.Ended.class,
                            it -> assertThat(it.diagnostic().message()).contains("the SQL command COMMIT"));
        }
    }

    @Test
    void columns_and_values_may_be_called_as_commands_are() { // AT-2
        Counters.fresh(db, 10);
        var definition = Counters.custom(4, (batch, tx) -> {
            try (Statement statement = tx.connection().createStatement();
                    ResultSet row = statement.executeQuery("select 'commit' as \"end\"")) {
                row.next();
                assertThat(row.getString("end")).isEqualTo("commit");
            }
            return 0;
        });
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.runToCompletion(Counters.ID);
            assertThat(Counters.hits(db)).isEqualTo("1111111111");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_deferred_trigger_that_divides_by_zero_is_a_data_error_and_no_breach(boolean fused) { // RB-4, AT-1
        Counters.fresh(db, 10);
        db.execute("create or replace function divides() returns trigger language plpgsql as"
                + " 'begin perform 1 / (new.id - 7); return null; end'");
        db.execute("create constraint trigger divides after update on counters deferrable initially deferred"
                + " for each row execute function divides()");
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Counters.set(4))
                .options(o -> o.fusedCommit(fused))
                .open()) {
            assertThatThrownBy(() -> harness.runToCompletion(Counters.ID)).isInstanceOf(AssertionError.class);
        }
        assertThat(db.queryRows("select * from backfill").get(0))
                .containsEntry("state", "blocked")
                .containsEntry("failure_code", "data-error")
                .containsEntry("failure_sql_state", "22012")
                .containsEntry("checkpoint", "{6}");
        assertThat(Counters.hits(db)).isEqualTo("1111110000");
    }

    @Test
    void a_connection_that_was_kept_is_of_no_use_after_its_batch() { // AT-2
        Counters.fresh(db, 10);
        AtomicReference<Connection> kept = new AtomicReference<>();
        AtomicReference<Statement> statement = new AtomicReference<>();
        AtomicReference<String> answers = new AtomicReference<>("");
        var definition = Counters.custom(4, (batch, tx) -> {
            if (kept.get() == null) {
                kept.set(tx.connection());
                statement.set(tx.connection().createStatement());
                return 0;
            }
            for (Use use : new Use[] {
                c -> c.createStatement().execute("update counters set hits = 9"),
                c -> statement.get().execute("update counters set hits = 9")
            }) {
                try {
                    use.of(kept.get());
                } catch (SQLException e) {
                    answers.updateAndGet(a -> a + e.getSQLState() + " ");
                }
            }
            return 0;
        });
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
            assertThat(kept.get().isClosed()).isTrue();
            assertThat(worker.step()).isInstanceOf(Committed.class);
            assertThat(answers).hasValue("08003 08003 ");
            assertThat(Counters.hits(db)).isEqualTo("1111111100");
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void rows_are_not_repaired_again_when_a_function_takes_away_where_the_window_ends() { // RB-4, CL-2
        Counters.fresh(db, 3);
        db.execute("create or replace function one() returns int language plpgsql as $$ begin"
                + " perform set_config('backfill.page', '', true); return 1; end $$");
        assertBlocked(
                Counters.over(Counters.ID.value())
                        .batchSize(2)
                        .repair(Repair.update().set("hits", "hits + one()").where("hits = 0"))
                        .validate(Validation.noRowMatches("hits <> 1"))
                        .build(),
                "transaction-control-refused");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_rule_that_came_after_the_claim_is_seen(boolean inSql) { // RB-4, SR-7
        Counters.fresh(db, 6);
        try (BackfillHarness harness = BackfillHarness.on(db, inSql ? Counters.set(2) : Counters.row(2))) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
            db.execute("create rule not_four as on update to counters where old.id = 4 do instead nothing");
            worker.step();
            assertThat(harness.row(Counters.ID))
                    .containsEntry("state", "blocked")
                    .containsEntry("failure_code", "incompatible-schema")
                    .containsEntry("checkpoint", "{2}");
            assertThat(Counters.hits(db)).isEqualTo("110000");
        }
    }

    private void assertBlocked(BackfillDefinition<Long> definition, String code) {
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(Counters.ID);
            harness.worker("a").step();
            assertThat(harness.row(Counters.ID))
                    .containsEntry("state", "blocked")
                    .containsEntry("failure_code", code)
                    .containsEntry("checkpoint", null);
            assertThat(Counters.hits(db)).isEqualTo("000");
        }
    }

    @Test
    void a_fragment_with_escapes_and_operators_means_what_its_author_wrote() { // SR-7
        Counters.fresh(db, 3);
        db.execute("alter table counters add column tags jsonb default '{\"e\": 1}'");
        var definition = Counters.over(Counters.ID.value())
                .repair(dev.backfill.Repair.update()
                        .set("note", "E'it\\'s ? :a {b}' || $q1$ ' ? $q1$ || '?'")
                        .where("tags ? 'e'"))
                .validate(dev.backfill.Validation.noRowMatches(
                        "tags ? 'e' AND note <> E'it\\'s ? :a {b}' || $q1$ ' ? $q1$ || '?'"))
                .build();
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.runToCompletion(Counters.ID);
            assertThat(db.queryTexts("select distinct note from counters")).containsExactly("it's ? :a {b} ' ? ?");
        }
    }
}
