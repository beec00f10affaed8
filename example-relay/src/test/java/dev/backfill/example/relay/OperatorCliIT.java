package dev.backfill.example.relay;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.admin.cli.CliDriver;
import dev.backfill.example.relay.backfills.EventCounts;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line against a real relay. */
@PostgresTest
class OperatorCliIT {

    private static final String TOKEN = "a-token-of-the-test";
    private static final String ID = EventCounts.ID;

    private final TestDatabase database;

    @TempDir
    Path directory;

    OperatorCliIT(TestDatabase database) {
        this.database = database;
    }

    @BeforeEach
    void empty() {
        database.clear();
    }

    @Test
    void a_backfill_is_started_paused_resumed_validated_and_looked_at() throws Exception {
        try (RunningRelay relay = RunningRelay.start(
                directory,
                "--jdbc-url",
                database.jdbcUrl(),
                "--admin-token",
                TOKEN,
                "--auto-backfill",
                "off",
                "--batch-size",
                "2")) {
            relay.awaitStarted();
            CliDriver cli = new CliDriver(
                    URI.create("http://localhost:" + relay.adminPort() + "/admin/backfills"), TOKEN, () -> {});
            assertThat(cli.run("preflight", ID).code()).isZero();
            assertThat(cli.run("start", ID, "--note", "night shift").code()).isZero();
            assertThat(cli.run("pause", ID).out()).isEqualTo(ID + ": done. It is paused.\n");
            assertThat(cli.run("watch", ID).code()).isEqualTo(9);
            assertThat(cli.run("retry", ID).code()).isEqualTo(3);
            assertThat(cli.run("resume", ID, "--wait").code()).isZero();
            assertThat(cli.run("validate", ID, "--wait").out()).startsWith("success");
            assertThat(cli.run("list").out()).containsPattern(ID + " +completed +100.0 %");
            assertThat(cli.run("show", ID).out()).containsPattern("actions +validate");
            assertThat(cli.run("audit", ID).out()).contains("night shift", "pause", "resume", "validate");
            assertThat(cli.run("show", "nobody").code()).isEqualTo(5);
        }
    }
}
