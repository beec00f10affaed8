package dev.backfill.postgres.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.BackfillState;
import dev.backfill.postgres.ContractGuard;
import dev.backfill.postgres.NotCompletedException;
import dev.backfill.postgres.startup.Host;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
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
            Pattern.compile("<!-- sql: contract-guard -->\\n```sql\\n(.*?)```", Pattern.DOTALL);

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

    @Test
    void the_schema_of_the_tables_may_be_named() throws Exception { // SC-4
        db.execute("drop schema if exists \"Else Where\" cascade; create schema \"Else Where\";"
                + " alter table backfill set schema \"Else Where\"");
        try (Connection migration = db.connection()) {
            assertThatCode(() -> ContractGuard.requireCompletedIn("Else Where", migration, ID))
                    .doesNotThrowAnyException();
            assertThatThrownBy(() -> ContractGuard.requireCompleted(migration, ID))
                    .isInstanceOf(NotCompletedException.class);
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
        Matcher block = DOCUMENTED.matcher(Files.readString(Path.of("..", "docs", "evolve-schema.md")));
        assertThat(block.find()).isTrue();
        return block.group(1).replace("events.thread-root.v1", ID);
    }
}
