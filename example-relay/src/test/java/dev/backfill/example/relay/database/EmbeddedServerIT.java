package dev.backfill.example.relay.database;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.zonky.test.db.postgres.embedded.EmbeddedPostgres;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class EmbeddedServerIT {

    @TempDir
    Path directory;

    @Test
    void its_commits_are_durable() throws Exception {
        try (EmbeddedServer server = EmbeddedServer.in(directory)) {
            assertThat(ask(server, "SHOW fsync")).isEqualTo("on");
            assertThat(ask(server, "SHOW synchronous_commit")).isEqualTo("on");
        }
    }

    @Test
    void its_files_survive_an_orderly_stop() throws Exception {
        try (EmbeddedServer server = EmbeddedServer.in(directory)) {
            ask(server, "CREATE TABLE kept AS SELECT 42 AS answer; SELECT answer FROM kept");
        }
        try (EmbeddedServer server = EmbeddedServer.in(directory)) {
            assertThat(ask(server, "SELECT answer FROM kept")).isEqualTo("42");
        }
    }

    @Test
    void the_server_of_a_process_that_was_killed_is_adopted_and_stopped_in_the_end() throws Exception {
        // What a killed JVM leaves behind: a running server, and nobody who holds the lock.
        EmbeddedPostgres orphan = EmbeddedPostgres.builder()
                .setDataDirectory(directory.resolve("postgres"))
                .setCleanDataDirectory(false)
                .setRegisterShutdownHook(false)
                .start();
        String url;
        try (EmbeddedServer adopted = EmbeddedServer.in(directory)) {
            url = adopted.url();
            assertThat(url).contains(":" + orphan.getPort() + "/");
            assertThat(ask(adopted, "SELECT 1")).isEqualTo("1");
        }
        assertThatThrownBy(() -> DriverManager.getConnection(url)).isInstanceOf(SQLException.class);
    }

    @Test
    void who_does_not_own_the_server_uses_it_and_leaves_it_running() throws Exception {
        try (EmbeddedServer owner = EmbeddedServer.in(directory)) {
            try (EmbeddedServer guest = EmbeddedServer.in(directory)) {
                assertThat(guest.url()).isEqualTo(owner.url());
            }
            assertThat(ask(owner, "SELECT 1")).isEqualTo("1");
        }
    }

    private static String ask(EmbeddedServer server, String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(server.url());
                Statement statement = connection.createStatement()) {
            boolean rows = statement.execute(sql);
            while (!rows) {
                rows = statement.getMoreResults();
            }
            try (ResultSet answer = statement.getResultSet()) {
                answer.next();
                return answer.getString(1);
            }
        }
    }
}
