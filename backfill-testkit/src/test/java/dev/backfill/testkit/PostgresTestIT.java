package dev.backfill.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.util.List;
import org.junit.jupiter.api.Nested;
import org.junit.jupiter.api.Test;

@PostgresTest(direct = "asks whether the end of a session ends its connection, which a pooler hides")
class PostgresTestIT {

    private final TestDatabase database;

    PostgresTestIT(TestDatabase database) {
        this.database = database;
    }

    @Test
    void a_class_gets_one_database_for_all_its_methods(TestDatabase again) {
        assertThat(again).isSameAs(database);
    }

    @Test
    void the_database_is_of_the_major_version_that_was_asked_for() {
        assertThat(database.majorVersion()).isEqualTo(Integer.getInteger("postgres.major"));
    }

    @Test
    void commits_are_synchronous_so_that_a_killed_server_loses_none() {
        assertThat(database.queryText("show synchronous_commit")).isEqualTo("on");
    }

    @Test
    void values_come_back_as_postgresql_writes_them() {
        assertThat(database.queryRows("select 1 as a, null as b, ?::bigint as c", Long.MAX_VALUE)
                        .toString())
                .isEqualTo("[{a=1, b=null, c=9223372036854775807}]");
        assertThat(database.queryTexts("select g from generate_series(1, 3) g")).isEqualTo(List.of("1", "2", "3"));
        assertThat(database.queryBoolean("select 1 < 2")).isTrue();
    }

    @Test
    void a_failing_statement_is_shown_with_its_sql() {
        assertThatThrownBy(() -> database.execute("select from nowhere"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("select from nowhere");
    }

    @Test
    void killing_the_sessions_leaves_no_connection_usable() throws Exception {
        try (Connection victim = database.connection()) {
            assertThat(victim.isValid(5)).isTrue();
            database.killSessions();
            Eventually.until("the session is gone", () -> !victim.isValid(5));
        }
    }

    @Test
    void a_database_is_gone_after_close() {
        TestDatabase other = TestDatabase.create(dev.backfill.testkit.server.PostgresServers.get(
                dev.backfill.testkit.server.PostgresServers.Durability.PROCESS));
        other.close();
        assertThat(database.queryLong("select count(*) from pg_database where datname = ?", other.name()))
                .isZero();
    }

    @Nested
    class A_nested_class {
        @Test
        void shares_the_database_of_the_outermost(TestDatabase inner) {
            assertThat(inner).isSameAs(database);
        }
    }
}
