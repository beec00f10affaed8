package dev.backfill.example.relay;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.ObjectMapper;
import dev.backfill.example.relay.backfills.EventCounts;
import dev.backfill.example.relay.backfills.RelayBackfills;
import dev.backfill.example.relay.backfills.ThreadRoots;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The operator boundary of a real relay process, above all while serving is gated (CF-3). */
@PostgresTest
class RelayOperatorIT {

    private static final String TOKEN = "a-token-of-the-test";

    private final TestDatabase database;

    @TempDir
    Path directory;

    RelayOperatorIT(TestDatabase database) {
        this.database = database;
    }

    @BeforeEach
    void empty() {
        database.clear();
    }

    @Test
    void nobody_gets_in_without_the_token() throws Exception { // AU-1, AU-4
        try (RunningRelay relay = relay("--auto-backfill", "off")) {
            relay.awaitReady();
            assertThat(relay.operatorGet("", "wrong").statusCode()).isEqualTo(401);
            assertThat(relay.operatorPost("/" + EventCounts.ID + "/start", "wrong", "r1")
                            .statusCode())
                    .isEqualTo(401);
            assertThat(relay.operatorGet("", TOKEN).statusCode()).isEqualTo(200);
            assertThat(state(EventCounts.ID)).isEqualTo("pending");
        }
    }

    @Test
    void the_ordinary_port_serves_no_operator() throws Exception { // AU-1
        try (RunningRelay relay = relay("--auto-backfill", "off")) {
            relay.awaitReady();
            assertThat(relay.get("/admin/backfills").statusCode()).isEqualTo(404);
        }
    }

    @Test
    void an_operator_sees_all_and_starts_one() throws Exception {
        try (RunningRelay relay = relay("--auto-backfill", "off")) {
            relay.awaitReady();
            String list = relay.operatorGet("", TOKEN).body();
            assertThat(new ObjectMapper().readTree(list).get("backfills"))
                    .hasSize(RelayBackfills.all().size());
            HttpResponse<String> started = relay.operatorPost("/" + EventCounts.ID + "/start", TOKEN, "r1");
            assertThat(started.statusCode()).as(started.body()).isEqualTo(200);
            Eventually.until("it is completed", () -> "completed".equals(state(EventCounts.ID)));
            assertThat(database.queryText("SELECT actor FROM backfill_audit WHERE request_id = 'r1'"))
                    .isEqualTo("demo");
        }
    }

    @Test
    void without_a_token_of_its_own_it_prints_one_that_works() throws Exception {
        try (RunningRelay relay =
                RunningRelay.start(directory, "--jdbc-url", database.jdbcUrl(), "--auto-backfill", "off")) {
            relay.awaitReady();
            Matcher printed = Pattern.compile("shown only now: (\\S+)").matcher(relay.output());
            assertThat(printed.find()).isTrue();
            assertThat(relay.operatorGet("", printed.group(1)).statusCode()).isEqualTo(200);
        }
    }

    @Test
    void metrics_are_for_those_who_may_read() throws Exception { // AU-1, OB-1
        try (RunningRelay relay = relay()) {
            relay.awaitReady();
            assertThat(relay.metrics("wrong").statusCode()).isEqualTo(401);
            assertThat(relay.metrics("wrong").body()).doesNotContain("backfill_");
            String metrics = relay.metrics(TOKEN).body();
            assertThat(metrics).contains("backfill_").doesNotContain(ThreadRoots.ID); // OB-2
        }
    }

    @Test
    void a_missing_schema_is_named_to_operators_too() throws Exception { // CF, SC-5
        try (RunningRelay relay = relay("--auto-migrate", "off")) {
            relay.awaitNotReadyBecauseOf("schema");
            Eventually.until(
                    "the boundary is there",
                    () -> !relay.operatorGet("", TOKEN).body().contains("\"unavailable\""));
            HttpResponse<String> answer = relay.operatorGet("", TOKEN);
            assertThat(answer.statusCode()).isEqualTo(503);
            assertThat(new ObjectMapper().readTree(answer.body()).get("code").asText())
                    .isEqualTo("schema_missing");
        }
    }

    @ParameterizedTest
    @CsvSource({"paused,resume", "blocked,retry", "failed,retry"})
    void an_operator_recovers_what_keeps_the_gate_closed(String state, String remedy) throws Exception { // CF-3, CT-13
        try (RunningRelay relay = relay("--batch-size", "1")) {
            Eventually.until(
                    "it runs",
                    () -> database.queryBoolean("SELECT to_regclass('backfill') IS NOT NULL")
                            && "running".equals(state(ThreadRoots.ID)));
            database.execute(
                    "UPDATE backfill SET state = ?, generation = generation + 1, claim_token = NULL, claim_owner = NULL,"
                            + " claim_expires_at = NULL WHERE id = ? AND state = 'running'",
                    state,
                    ThreadRoots.ID);
            relay.awaitNotReadyBecauseOf("backfills");
            assertThat(relay.stop()).isZero();
        }
        try (RunningRelay relay = relay()) {
            relay.awaitNotReadyBecauseOf("backfills");
            assertThat(relay.operatorGet("/" + ThreadRoots.ID, TOKEN).body()).contains("\"state\":\"" + state + "\"");
            HttpResponse<String> answer = relay.operatorPost("/" + ThreadRoots.ID + "/" + remedy, TOKEN, "r2");
            assertThat(answer.statusCode()).as(answer.body()).isEqualTo(200);
            relay.awaitReady();
        }
    }

    private RunningRelay relay(String... more) throws Exception {
        String[] fixed = {"--jdbc-url", database.jdbcUrl(), "--admin-token", TOKEN};
        String[] options = java.util.stream.Stream.concat(java.util.Arrays.stream(fixed), java.util.Arrays.stream(more))
                .toArray(String[]::new);
        return RunningRelay.start(directory, options);
    }

    private String state(String id) {
        return database.queryText("SELECT state FROM backfill WHERE id = ?", id);
    }
}
