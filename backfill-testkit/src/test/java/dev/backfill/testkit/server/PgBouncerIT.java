package dev.backfill.testkit.server;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.TestDatabase;
import dev.backfill.testkit.server.PostgresServers.Durability;
import java.lang.ref.WeakReference;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PgBouncerIT {

    private final PostgresServer server = PostgresServers.get(Durability.PROCESS);

    private static void assumeInstalled() {
        Assumptions.assumeTrue(
                Files.isExecutable(Path.of("/usr/sbin/pgbouncer")), "Debian's package pgbouncer is not installed.");
    }

    @Test
    void two_clients_share_one_session_because_each_has_it_for_a_transaction_only() throws Exception {
        assumeInstalled();
        PostgresServer pooler = PgBouncer.before(server, "test-sharing");
        try (TestDatabase database = TestDatabase.create(pooler);
                Connection one = database.connection();
                Connection other = database.connection()) {
            String session = session(one);
            assertThat(session(other)).isEqualTo(session);
            one.setAutoCommit(false);
            assertThat(session(one)).isEqualTo(session);
            assertThat(session(other)).isNotEqualTo(session);
            assertThat(database.jdbcUrl()).isNotEqualTo(database.directUrl());
            assertThat(pooler.direct()).isSameAs(server);
        }
    }

    private static String session(Connection connection) throws Exception {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select pg_backend_pid()")) {
            row.next();
            return row.getString(1);
        }
    }

    @Test
    void one_that_a_killed_jvm_left_behind_is_ended_by_the_next(@TempDir Path directory) throws Exception {
        assumeInstalled();
        // Another program of that name, so that the one that is looked for is not this test's own.
        Path left = Files.copy(Path.of("/bin/sleep"), directory.resolve("pgbouncer"));
        Process process = new ProcessBuilder(left.toString(), "600").start();
        try {
            Path slot =
                    Files.createDirectories(PgBouncer.parent("test-leftover").resolve("0"));
            Files.writeString(PgBouncer.pidFile(slot), Long.toString(process.pid()));
            PgBouncer.before(server, "test-leftover");
            Eventually.until("what was left is ended", () -> !process.isAlive());
        } finally {
            process.destroyForcibly();
        }
    }

    @Test
    void its_slot_is_taken_for_as_long_as_this_jvm_lives() throws Exception {
        assumeInstalled();
        Path parent = PgBouncer.parent("test-kept");
        WeakReference<PostgresServer> forgotten = new WeakReference<>(PgBouncer.before(server, "test-kept"));
        Eventually.until("what nobody holds is collected", () -> {
            System.gc();
            return forgotten.get() == null;
        });
        ServerSlot next = ServerSlot.take(parent);
        assertThat(next.home()).isNotEqualTo(parent.resolve("0"));
        next.leave();
    }

    @Test
    void without_the_program_the_message_says_what_to_install() {
        assertThatThrownBy(() -> PgBouncer.before(server, "test-missing", "/nowhere"))
                .isInstanceOf(IllegalStateException.class)
                .hasMessageContaining("apt-get install pgbouncer");
    }
}
