package dev.backfill.example.relay;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.backfill.example.relay.backfills.ThreadRoots;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.FaultProxy;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** How a relay process lives and dies. */
@PostgresTest
class RelayProcessIT {

    private final TestDatabase database;

    @TempDir
    Path directory;

    RelayProcessIT(TestDatabase database) {
        this.database = database;
    }

    @BeforeEach
    void empty() {
        database.clear();
    }

    @Test
    void sigterm_in_mid_work_releases_the_claim_and_ends_with_exit_code_0() throws Exception { // BB-3
        try (RunningRelay relay =
                RunningRelay.start(directory, "--jdbc-url", database.jdbcUrl(), "--batch-size", "1")) {
            relay.awaitStarted();
            Eventually.until("it works", () -> database.queryLong("SELECT sum(batches) FROM backfill") > 0);
            assertThat(relay.stop()).isZero();
        }
        assertThat(database.queryText("SELECT state FROM backfill WHERE id = '" + ThreadRoots.ID + "'"))
                .isEqualTo("running");
        assertThat(database.queryLong("SELECT count(claim_token) FROM backfill"))
                .as("claims")
                .isZero();
        assertThat(database.queryLong("SELECT max(attempts) FROM backfill"))
                .as("attempts, given back")
                .isZero(); // RB-5
    }

    @Test
    void a_database_that_is_down_at_boot_leaves_it_alive_and_unready_until_it_comes() throws Exception { // CF-2, CF-3
        try (FaultProxy network = FaultProxy.before(database.jdbcUrl())) {
            network.down();
            try (RunningRelay relay = RunningRelay.start(directory, "--jdbc-url", network.jdbcUrl())) {
                relay.awaitNotReadyBecauseOf("database");
                relay.assertAlive();
                network.heal();
                relay.awaitReady();
            }
        }
    }

    @Test
    void a_database_that_goes_away_later_closes_the_gate_and_comes_back_without_help() throws Exception { // CF-2
        try (FaultProxy network = FaultProxy.before(database.jdbcUrl());
                RunningRelay relay = RunningRelay.start(directory, "--jdbc-url", network.jdbcUrl())) {
            relay.awaitReady();
            network.down();
            relay.awaitNotReadyBecauseOf("database");
            assertThat(relay.readiness().at("/inputs/backfills/ok").asBoolean())
                    .as("nothing is remembered against PostgreSQL")
                    .isFalse();
            assertThat(relay.get("/events").statusCode()).isEqualTo(503);
            relay.assertAlive();
            network.heal();
            relay.awaitReady();
        }
    }

    @Test
    void two_relays_that_boot_at_once_seed_once_and_start_once() throws Exception { // ID-2, IK-2
        try (RunningRelay one = RunningRelay.start(directory, "--jdbc-url", database.jdbcUrl());
                RunningRelay other = RunningRelay.start(directory, "--jdbc-url", database.jdbcUrl())) {
            one.awaitReady();
            other.awaitReady();
        }
        assertThat(database.queryLong("SELECT count(*) FROM events")).isEqualTo(2_000);
        assertThat(database.queryLong(
                        "SELECT count(*) FROM backfill_audit WHERE action = 'start' AND outcome = 'applied'"))
                .isEqualTo(1);
    }

    @Test
    void events_are_served_newest_first_page_by_page() throws Exception {
        try (RunningRelay relay =
                RunningRelay.start(directory, "--jdbc-url", database.jdbcUrl(), "--auto-backfill", "off")) {
            relay.awaitReady();
            List<Long> ids = new ArrayList<>();
            String before = "";
            for (int page = 0; page < 3; page++) {
                JsonNode body = new ObjectMapper()
                        .readTree(relay.get("/events?limit=7" + before).body());
                body.get("items").forEach(event -> ids.add(event.get("id").asLong()));
                before = "&before=" + body.get("next_before").asText();
            }
            assertThat(ids.stream().map(String::valueOf))
                    .isEqualTo(database.queryTexts("SELECT id FROM events ORDER BY id DESC LIMIT 21"));
        }
    }

    @Test
    void its_own_server_and_its_history_survive_sigkill() throws Exception {
        String data = directory.resolve("data").toString();
        try (RunningRelay relay = RunningRelay.start(directory, "--data-dir", data, "--seed-rows", "321")) {
            relay.awaitReady();
            relay.kill();
        }
        try (RunningRelay relay = RunningRelay.start(directory, "--data-dir", data)) {
            relay.awaitReady();
            assertThat(relay.output()).contains("Using the PostgreSQL server that runs");
            assertThat(relay.get("/events?limit=200&before=225").body()).contains("\"id\":\"224\"");
            assertThat(relay.stop()).isZero();
        }
        try (RunningRelay relay = RunningRelay.start(directory, "--data-dir", data)) {
            relay.awaitReady();
            assertThat(relay.output()).doesNotContain("Using the PostgreSQL server that runs");
            assertThat(relay.stop()).isZero();
        }
    }

    @Test
    void unusable_options_end_it_with_exit_code_2() throws Exception {
        try (RunningRelay relay = RunningRelay.startExactly(directory, List.of("--port", "http"))) {
            assertThat(relay.exitCode()).isEqualTo(2);
            assertThat(relay.output()).contains("relay: --port must be a whole number");
        }
    }

    @Test
    void a_port_that_is_taken_ends_it_with_exit_code_1() throws Exception {
        try (java.net.ServerSocket taken = new java.net.ServerSocket(0);
                RunningRelay relay = RunningRelay.startExactly(
                        directory,
                        List.of("--port", Integer.toString(taken.getLocalPort()), "--jdbc-url", database.jdbcUrl()))) {
            assertThat(relay.exitCode()).isEqualTo(1);
            assertThat(relay.output()).contains("port " + taken.getLocalPort() + " can't be opened");
        }
    }

    @Test
    void neither_the_password_nor_a_given_token_is_ever_printed() throws Exception { // AU-5
        String url = database.jdbcUrl() + (database.jdbcUrl().contains("?") ? "&" : "?") + "password=hunter2secret";
        try (RunningRelay relay = RunningRelay.start(directory, "--jdbc-url", url, "--admin-token", "hunter3secret")) {
            relay.awaitReady();
            assertThat(relay.stop()).isZero();
            assertThat(relay.output()).doesNotContain("hunter2secret").doesNotContain("hunter3secret");
        }
    }
}
