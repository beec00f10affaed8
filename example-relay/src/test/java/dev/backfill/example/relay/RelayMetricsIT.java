package dev.backfill.example.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The relay's real metrics: who may see them, and that dashboard and alert rules ask for what is there. */
@PostgresTest
class RelayMetricsIT {

    private static final String TOKEN = "a-token-of-the-test";
    private static final Path DOCS = Path.of("..", "docs").toAbsolutePath().normalize();
    private static final Pattern METRIC = Pattern.compile("\\bbackfill_[a-z_]+");
    private static final HttpClient CLIENT = HttpClient.newHttpClient();

    private final TestDatabase database;

    @TempDir
    Path directory;

    RelayMetricsIT(TestDatabase database) {
        this.database = database;
    }

    @BeforeEach
    void empty() {
        database.clear();
    }

    @Test
    void metrics_need_the_capability_to_read_and_are_not_on_the_public_port() throws Exception { // AU-1
        try (RunningRelay relay = relay()) {
            relay.awaitReady();
            assertThat(scrape(relay, "wrong").statusCode()).isEqualTo(401);
            assertThat(scrape(relay, "wrong").body()).doesNotContain("backfill_");
            assertThat(relay.get("/metrics").statusCode()).isEqualTo(404);
            assertThat(scrape(relay, TOKEN).statusCode()).isEqualTo(200);
        }
    }

    @Test
    void dashboard_and_alerts_ask_only_for_what_a_real_scrape_has() throws Exception { // OB-1
        try (RunningRelay relay = relay()) {
            relay.awaitReady();
            String text = scrape(relay, TOKEN).body();
            Set<String> served = metrics(
                    text.lines().filter(line -> !line.startsWith("#")).reduce("", (all, line) -> all + "\n" + line));
            assertThat(served).contains("backfill_backfills", "backfill_batches_total");

            JsonNode dashboard = new ObjectMapper()
                    .readTree(DOCS.resolve("grafana/backfill.json").toFile());
            StringBuilder expressions = new StringBuilder();
            dashboard
                    .get("panels")
                    .forEach(panel -> panel.get("targets")
                            .forEach(target -> expressions
                                    .append(target.get("expr").asText())
                                    .append('\n')));
            assertThat(metrics(expressions.toString())).hasSizeGreaterThan(15);
            assertThat(served).containsAll(metrics(expressions.toString()));

            String rules = Files.readString(DOCS.resolve("prometheus/alerts.yml"));
            String asked = rules.lines()
                    .filter(line -> line.strip().startsWith("expr:"))
                    .reduce("", (all, line) -> all + "\n" + line);
            assertThat(metrics(asked)).hasSizeGreaterThan(8);
            assertThat(served).containsAll(metrics(asked));

            Matcher anchors = Pattern.compile("runbook: docs/operate.md#(\\S+)").matcher(rules);
            Set<String> headings = headings();
            while (anchors.find()) {
                assertThat(headings).contains(anchors.group(1));
            }
        }
    }

    @Test
    void what_a_scrape_says_agrees_with_the_rows() throws Exception { // OB-3
        try (RunningRelay relay = relay()) {
            relay.awaitReady();
            long scanned = database.queryLong("SELECT sum(rows_scanned) FROM backfill");
            assertThat(scanned).isPositive();
            Eventually.until("the counters have it all", () -> value(relay, "backfill_rows_scanned_total") == scanned);
            Eventually.until("the gauge too", () -> value(relay, "backfill_backfills{state=\"completed\"}") >= 1);
            assertThat(value(relay, "backfill_ready")).isEqualTo(1);
        }
    }

    @Test
    void prometheus_accepts_the_rules_and_fires_them_when_it_should() throws Exception {
        Path promtool = Path.of(System.getProperty("promtool", "/usr/bin/promtool"));
        assumeTrue(Files.isExecutable(promtool), "Debian's package prometheus has promtool; it is not installed");
        Path rules = DOCS.resolve("prometheus/alerts.yml");
        run(promtool.toString(), "check", "rules", rules.toString());
        String cases =
                Files.readString(Path.of("src/test/resources/alerts-test.yml")).replace("ALERTS", rules.toString());
        run(
                promtool.toString(),
                "test",
                "rules",
                Files.writeString(directory.resolve("cases.yml"), cases).toString());
    }

    private static void run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String output = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        assertThat(process.waitFor(60, TimeUnit.SECONDS)).isTrue();
        assertThat(process.exitValue()).as(output).isZero();
    }

    private static Set<String> headings() throws IOException {
        Set<String> anchors = new TreeSet<>();
        Files.readString(DOCS.resolve("operate.md"))
                .lines()
                .filter(line -> line.startsWith("#"))
                .forEach(line -> anchors.add(line.replaceFirst("^#+ ", "")
                        .toLowerCase(java.util.Locale.ROOT)
                        .replaceAll("[^a-z0-9 -]", "")
                        .replace(' ', '-')));
        return anchors;
    }

    private static Set<String> metrics(String text) {
        Set<String> names = new TreeSet<>();
        Matcher metric = METRIC.matcher(text);
        while (metric.find()) {
            names.add(metric.group());
        }
        return names;
    }

    private static double value(RunningRelay relay, String series) throws Exception {
        return scrape(relay, TOKEN)
                .body()
                .lines()
                .filter(line -> line.startsWith(series + " "))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .findFirst()
                .orElse(Double.NaN);
    }

    private static HttpResponse<String> scrape(RunningRelay relay, String token) throws Exception {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + relay.adminPort() + "/metrics"))
                .header("Authorization", "Bearer " + token)
                .build();
        return CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
    }

    private RunningRelay relay() throws IOException {
        return RunningRelay.start(directory, "--jdbc-url", database.jdbcUrl(), "--admin-token", TOKEN);
    }
}
