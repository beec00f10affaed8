package dev.backfill.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backfill.Pacing;
import dev.backfill.admin.cli.CliDriver;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Pace and rehearsal over HTTP and from the command line. */
class SettingsTest {

    private final OpenApi openApi = new OpenApi();
    private TestHost host;
    private Client ana;

    @BeforeEach
    void start() throws Exception {
        host = new TestHost();
        host.operations.put(Rows.running("b"));
        ana = new Client(host.api(), TestHost.ANA);
    }

    @AfterEach
    void stop() {
        host.close();
    }

    private Client.Answer put(String body) {
        return ana.send("PUT", "/b/pace", body, "Idempotency-Key", "k", "Content-Type", "application/json");
    }

    @Test
    void a_pace_is_put_whole_and_read_back() {
        Client.Answer answer = put(
                "{\"pause_ratio\": 1.5, \"rows_per_second\": 5000, \"wal_bytes_per_second\": \"9007199254740993\", \"target_batch_ms\": 200}");
        openApi.judge("/{id}/pace", "put", answer);
        assertThat(host.operations.paced())
                .isEqualTo(Pacing.unlimited()
                        .pauseRatio(1.5)
                        .rowsPerSecond(5000)
                        .walBytesPerSecond(9007199254740993L)
                        .targetBatchTime(Duration.ofMillis(200)));
        Client.Answer read = ana.get("/b/pace");
        openApi.judge("/{id}/pace", "get", read);
        assertThat(read.json()).isEqualTo(answer.json().path("pace"));
        assertThat(read.json().path("wal_bytes_per_second").asText()).isEqualTo("9007199254740993");
        assertThat(read.json().path("rows_per_second").isIntegralNumber()).isTrue();
        put("{\"rows_per_second\": null}");
        assertThat(host.operations.paced()).isEqualTo(Pacing.unlimited());
        put("{\"reset\": true, \"note\": \"as it was\"}");
        assertThat(host.operations.paced()).isNull();
    }

    @Test
    void a_pace_that_could_be_meant_otherwise_is_refused() {
        for (String body : List.of(
                "",
                "{}",
                "[]",
                "{\"reset\": false}",
                "{\"reset\": true, \"rows_per_second\": 1}",
                "{\"rows_per_minute\": 1}",
                "{\"rows_per_second\": 0}",
                "{\"rows_per_second\": 1.5}",
                "{\"rows_per_second\": \"many\"}",
                "{\"rows_per_second\": 1, \"rows_per_second\": 2}",
                "{\"rows_per_second\": 1} {}",
                "{\"pause_ratio\": \"1\"}",
                "{\"pause_ratio\": -1}",
                "{\"pause_ratio\": 1, \"note\": 5}")) {
            Client.Answer answer = put(body);
            assertThat(answer.status()).as(body).isEqualTo(400);
            assertThat(answer.code()).as(body).isEqualTo("malformed_body");
            openApi.judge("/{id}/pace", "put", answer);
        }
        assertThat(host.operations.paced()).isNull();
    }

    @Test
    void pace_and_rehearsal_keep_the_order_of_checks() { // AU-4
        Client nobody = new Client(host.api(), null);
        assertThat(nobody.send("PUT", "/b/pace", "{}").status()).isEqualTo(401);
        assertThat(nobody.send("POST", "/no.such/rehearsal", null).status()).isEqualTo(401);
        assertThat(ana.send("POST", "/b/pace", null).header("Allow")).isEqualTo("GET, HEAD, PUT");
        assertThat(ana.get("/b/rehearsal").header("Allow")).isEqualTo("POST");
        assertThat(ana.send("PUT", "/b/pace", "{\"rows_per_second\": 1}", "Content-Type", "application/json")
                        .code())
                .isEqualTo("missing_idempotency_key");
        assertThat(ana.post("/BAD ID".replace(" ", "%20") + "/rehearsal", "k").status())
                .isEqualTo(404);
    }

    @Test
    void a_rehearsal_says_so() {
        Client.Answer answer = ana.post("/b/rehearsal", "k");
        openApi.judge("/{id}/rehearsal", "post", answer);
        JsonNode sample = answer.json().at("/rehearsal/samples/0");
        assertThat(sample.path("would_change").asText()).isEqualTo("7");
        assertThat(sample.path("failure").isNull()).isTrue();
        assertThat(answer.json().at("/rehearsal/projection/changed_high").asText())
                .isEqualTo("900");
    }

    @Test
    void the_command_line_sets_reads_and_resets_a_pace() {
        CliDriver.Ran set =
                run("pace", "b", "--rows-per-second", "100", "--target-batch", "200ms", "--note", "rush hour");
        assertThat(set.code()).as(set.err()).isZero();
        assertThat(set.out()).contains("rows 100/s", "batch 200 ms", "rest unlimited", "replica_lag", "not_available");
        assertThat(host.operations.paced())
                .isEqualTo(Pacing.unlimited().rowsPerSecond(100).targetBatchTime(Duration.ofMillis(200)));
        assertThat(run("pace", "b").out()).contains("rows 100/s");
        run("pace", "b", "--unlimited");
        assertThat(host.operations.paced()).isEqualTo(Pacing.unlimited());
        run("pace", "b", "--reset");
        assertThat(host.operations.paced()).isNull();
        assertThat(run("pace", "b", "--reset", "--unlimited").code()).isEqualTo(2);
    }

    @Test
    void the_command_line_rehearses() {
        CliDriver.Ran ran = run("rehearse", "b");
        assertThat(ran.code()).as(ran.err()).isZero();
        assertThat(ran.out())
                .contains("Rehearsal with windows of 1000 keys. Everything was rolled back.")
                .containsPattern("first +1,000 +7 +12 ms +4,096 +-")
                .contains("would change 70 to 900 rows");
    }

    private CliDriver.Ran run(String... args) {
        return new CliDriver(host.api(), TestHost.ANA, () -> {}).run(args);
    }
}
