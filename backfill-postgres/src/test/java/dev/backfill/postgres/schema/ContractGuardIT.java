package dev.backfill.postgres.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.ContractGuard;
import dev.backfill.postgres.NotCompletedException;
import dev.backfill.postgres.ReplicaGate;
import dev.backfill.postgres.startup.Host;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The contract guard, as a Java call and as the SQL that the documentation prints. */
@PostgresTest
class ContractGuardIT {

    private static final String ID = Host.ID.value();
    private static final Pattern DOCUMENTED =
            Pattern.compile("<!-- sql: (contract-guard[a-z-]*) -->\\n```sql\\n(.*?)```", Pattern.DOTALL);

    private final TestDatabase db;

    ContractGuardIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void rows() {
        Rows.in(db, BackfillState.COMPLETED, ID);
    }

    @ParameterizedTest
    @EnumSource(BackfillState.class)
    void the_java_call_lets_a_completed_backfill_pass_and_names_any_other(BackfillState state)
            throws Exception { // SC-4
        Rows.in(db, state, ID);
        try (Connection migration = db.connection()) {
            migration.setAutoCommit(false);
            if (state == BackfillState.COMPLETED) {
                guarded(migration);
                migration.commit();
            } else {
                assertThatThrownBy(() -> guarded(migration))
                        .isInstanceOf(NotCompletedException.class)
                        .hasMessageContaining(ID + " is " + state.wireName())
                        .hasMessageContaining("migrate again");
                migration.rollback();
            }
        }
        assertThat(contracted()).isEqualTo(state == BackfillState.COMPLETED);
    }

    @ParameterizedTest
    @EnumSource(BackfillState.class)
    void the_documented_sql_lets_a_completed_backfill_pass_and_names_any_other(BackfillState state)
            throws Exception { // SC-4
        Rows.in(db, state, ID);
        try (Connection migration = db.connection();
                Statement statement = migration.createStatement()) {
            migration.setAutoCommit(false);
            if (state == BackfillState.COMPLETED) {
                statement.execute(documented());
                contract(migration);
                migration.commit();
            } else {
                assertThatThrownBy(() -> statement.execute(documented()))
                        .isInstanceOf(SQLException.class)
                        .hasMessageContaining("backfill " + ID + " is " + state.wireName());
                // First statement of the migration's own transaction: nothing after it can happen.
                assertThatThrownBy(() -> contract(migration)).isInstanceOf(SQLException.class);
                migration.rollback();
            }
        }
        assertThat(contracted()).isEqualTo(state == BackfillState.COMPLETED);
    }

    @Test
    void unknown_ids_fail_closed_in_both_forms() throws Exception { // SC-4
        db.execute("delete from backfill");
        try (Connection migration = db.connection();
                Statement statement = migration.createStatement()) {
            assertThatThrownBy(() -> ContractGuard.requireCompleted(migration, ID))
                    .isInstanceOf(NotCompletedException.class)
                    .hasMessageContaining(ID + " is not registered");
            assertThatThrownBy(() -> statement.execute(documented()))
                    .hasMessageContaining("backfill " + ID + " is not registered");
        }
    }

    @Test
    void a_missing_table_fails_closed_in_both_forms() throws Exception { // SC-4
        Host.items(db, 1);
        try (Connection migration = db.connection();
                Statement statement = migration.createStatement()) {
            assertThatThrownBy(() -> ContractGuard.requireCompleted(migration, ID))
                    .isInstanceOf(NotCompletedException.class)
                    .hasMessageContaining("no table backfill");
            assertThatThrownBy(() -> statement.execute(documented()))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("42P01"));
        }
    }

    @Test
    void a_row_of_a_newer_format_fails_closed() throws Exception { // SC-4, ID-5
        db.execute("update backfill set contract = 99");
        try (Connection migration = db.connection()) {
            assertThatThrownBy(() -> ContractGuard.requireCompleted(migration, ID))
                    .isInstanceOf(NotCompletedException.class)
                    .hasMessageContaining("newer format");
        }
    }

    @Test
    void every_id_counts_and_each_that_is_open_is_named() throws Exception { // SC-4
        try (Connection migration = db.connection()) {
            assertThatThrownBy(() -> ContractGuard.requireCompleted(migration, "other.one", ID, "other.two"))
                    .isInstanceOf(NotCompletedException.class)
                    .hasMessageContaining("other.one is not")
                    .hasMessageContaining("other.two is not")
                    .hasMessageNotContaining(ID + " is");
            assertThatThrownBy(() -> ContractGuard.requireCompleted(migration))
                    .isInstanceOf(IllegalArgumentException.class);
        }
    }

    /** Three completed parts of a family, as its first start has divided them. */
    private void completedFamily() {
        db.execute("delete from backfill_family");
        db.execute("delete from backfill where id like 'family.%'");
        db.execute(
                "insert into backfill (id, state, contract, key_codec, bound, bound_captured_at, started_at, completed_at,"
                        + " range_parts) select 'family.v1.0' || i, 'completed', 2, 'v1:bigint', '{5}', now(), now(), now(), 3"
                        + " from generate_series(0, 2) as i");
        db.execute("insert into backfill_family (family, parts, key_codec, bound, bound_empty, splits)"
                + " values ('family.v1', 3, 'v1:bigint', '{5}', false, '{{1},{3}}')");
    }

    private static void assertClosed(Connection migration, String... words) throws Exception {
        assertThat(ReplicaGate.hasReplayed(migration, "family.v1")).isFalse();
        assertThatThrownBy(() -> ContractGuard.requireCompleted(migration, "family.v1"))
                .isInstanceOf(NotCompletedException.class)
                .satisfies(e -> assertThat(e.getMessage()).contains(words));
        try (Statement statement = migration.createStatement()) {
            assertThatThrownBy(() -> statement.execute(documented("contract-guard-family")))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("family family.v1 is not completed");
        }
    }

    @Test
    void a_family_passes_when_all_of_its_parts_are_completed_in_both_forms() throws Exception { // SC-4
        completedFamily();
        try (Connection migration = db.connection();
                Statement statement = migration.createStatement()) {
            ContractGuard.requireCompleted(migration, "family.v1", "family.v1.01");
            assertThat(ReplicaGate.hasReplayed(migration, "family.v1")).isTrue();
            assertThat(statement.execute(documented("contract-guard-family"))).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(value = BackfillState.class, names = "COMPLETED", mode = EnumSource.Mode.EXCLUDE)
    void a_family_with_one_part_in_any_other_state_is_closed_in_both_forms(BackfillState state)
            throws Exception { // SC-4
        completedFamily();
        db.execute(
                "update backfill set completed_at = null, state = ?"
                        + (state == BackfillState.PENDING
                                ? ", bound = null, bound_captured_at = null, started_at = null"
                                : "")
                        + " where id = 'family.v1.01'",
                state.wireName());
        try (Connection migration = db.connection()) {
            assertClosed(migration, "family.v1.01 is " + state.wireName());
        }
    }

    @Test
    void a_family_that_was_never_started_lacks_a_part_or_was_divided_otherwise_is_closed_in_both_forms()
            throws Exception { // SC-4
        try (Connection migration = db.connection()) {
            completedFamily();
            db.execute("update backfill set range_parts = 4 where id = 'family.v1.02'");
            assertClosed(migration, "family.v1.02 is completed over another range");
            db.execute("update backfill set range_parts = 3, contract = 99 where id = 'family.v1.02'");
            assertClosed(migration, "family.v1.02 is in a row of a newer format");
            db.execute("delete from backfill where id = 'family.v1.02'");
            assertClosed(migration, "family.v1.02 is not registered");
            completedFamily();
            db.execute("delete from backfill_family");
            assertClosed(migration, "family.v1 is not registered");
        }
    }

    @Test
    void a_database_of_the_version_before_has_no_families_and_its_backfills_are_still_looked_up()
            throws Exception { // SC-4
        db.execute("drop table backfill_family; alter table backfill drop column range_low, drop column range_parts");
        try (Connection migration = db.connection()) {
            ContractGuard.requireCompleted(migration, ID);
            assertThatThrownBy(() -> ContractGuard.requireCompleted(migration, "family.v1"))
                    .isInstanceOf(NotCompletedException.class)
                    .hasMessageContaining("family.v1 is not registered");
        }
    }

    @Test
    void the_schema_of_the_tables_may_be_named() throws Exception { // SC-4
        db.execute("drop schema if exists \"Else Where\" cascade; create schema \"Else Where\";"
                + " alter table backfill set schema \"Else Where\"");
        try (Connection migration = db.connection()) {
            assertThatCode(() -> ContractGuard.of(ID).inSchema("Else Where").check(migration))
                    .doesNotThrowAnyException();
            assertThatThrownBy(() -> ContractGuard.requireCompleted(migration, ID))
                    .isInstanceOf(NotCompletedException.class);
        }
    }

    @Test
    void where_neither_id_nor_source_has_a_row_there_is_nothing_to_repair() throws Exception { // SC-4
        db.execute("delete from backfill; delete from items");
        ContractGuard guard = ContractGuard.of(ID, "family.v1").over("items");
        try (Connection migration = db.connection();
                Statement statement = migration.createStatement()) {
            migration.setAutoCommit(false);
            statement.execute(documented("contract-guard-new"));
            migration.rollback();
            guard.check(migration);
            assertThatThrownBy(() -> ContractGuard.requireCompleted(migration, ID))
                    .isInstanceOf(NotCompletedException.class);
            // Nobody can write what would have to be repaired before the migration commits.
            assertThat(db.queryLong("select count(*) from pg_locks where relation = 'items'::regclass and granted"
                            + " and mode = 'AccessExclusiveLock'"))
                    .isEqualTo(1);
            migration.rollback();
        }
        db.execute("alter table backfill rename to gone");
        try (Connection migration = db.connection()) {
            guard.check(migration);
        }
    }

    @Test
    void a_row_in_the_source_or_of_the_id_or_no_source_at_all_is_refused() throws Exception { // SC-4
        db.execute("delete from backfill");
        ContractGuard guard = ContractGuard.of(ID).over("items");
        try (Connection migration = db.connection();
                Connection plain = db.connection();
                Statement statement = plain.createStatement()) {
            plain.setAutoCommit(false);
            assertThatThrownBy(() -> statement.execute(documented("contract-guard-new")))
                    .hasMessageContaining("backfill " + ID + " is not registered");
            plain.rollback();
            assertThatThrownBy(() -> guard.check(migration))
                    .isInstanceOf(NotCompletedException.class)
                    .hasMessageContaining(ID + " is not registered");
            Rows.in(db, BackfillState.RUNNING, ID);
            db.execute("delete from items");
            assertThatThrownBy(() -> guard.check(migration))
                    .isInstanceOf(NotCompletedException.class)
                    .hasMessageContaining(ID + " is running");
            db.execute("delete from backfill");
            assertThatThrownBy(() -> ContractGuard.of(ID).over("itms").check(migration))
                    .isInstanceOf(SQLException.class)
                    .hasMessageContaining("itms");
        }
    }

    @Test
    void a_backfill_registered_while_the_lock_is_waited_for_is_not_passed_over() throws Exception { // SC-4
        Rows.in(db, BackfillState.RUNNING, ID);
        db.execute("delete from items; alter table backfill rename to kept");
        try (Connection reader = db.connection();
                Connection migration = db.connection()) {
            reader.setAutoCommit(false);
            reader.createStatement().execute("lock table items in access share mode");
            migration.setAutoCommit(false);
            ExecutorService other = Executors.newSingleThreadExecutor();
            try {
                Future<?> check = other.submit(() -> {
                    ContractGuard.of(ID).over("items").check(migration);
                    return null;
                });
                Eventually.until(
                        "the guard waits for its lock",
                        () -> db.queryBoolean("select exists (select 1 from pg_locks where relation = 'items'::regclass"
                                + " and not granted)"));
                db.execute("alter table kept rename to backfill");
                reader.rollback();
                assertThatThrownBy(() -> check.get(10, TimeUnit.SECONDS))
                        .hasCauseInstanceOf(NotCompletedException.class);
            } finally {
                other.shutdownNow();
            }
        }
    }

    private static void guarded(Connection migration) throws SQLException {
        ContractGuard.requireCompleted(migration, ID);
        contract(migration);
    }

    private static void contract(Connection migration) throws SQLException {
        try (Statement statement = migration.createStatement()) {
            statement.execute("alter table items drop column n");
        }
    }

    private boolean contracted() {
        return db.queryLong("select count(*) from pg_attribute where attrelid = 'items'::regclass and attname = 'n'")
                == 0;
    }

    private static String documented() throws Exception {
        return documented("contract-guard");
    }

    private static String documented(String name) throws Exception {
        Matcher block = DOCUMENTED.matcher(Files.readString(Path.of("..", "docs", "evolve-schema.md")));
        while (block.find()) {
            if (block.group(1).equals(name)) {
                return block.group(2)
                        .replace("events.thread-root.v1", ID)
                        .replace("events.search-text.v1", "family.v1")
                        .replace("TABLE events ", "TABLE items ")
                        .replace("FROM events)", "FROM items)");
            }
        }
        throw new AssertionError("no SQL named " + name);
    }
}
