package dev.backfill.example.relay;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.backfill.testkit.Eventually;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A real relay process, as a test sees it: ports, exit code, output. */
final class RunningRelay implements AutoCloseable {

    private static final Pattern LISTENING = Pattern.compile("Listening: port=(\\d+) admin-port=(\\d+)");
    private static final HttpClient CLIENT =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(5)).build();

    private final Process process;
    private final Path log;

    private RunningRelay(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /** Starts one on free ports, with quick polls and little memory. */
    static RunningRelay start(Path directory, String... options) throws IOException {
        List<String> all =
                new ArrayList<>(List.of("--port", "0", "--admin-port", "0", "--seed-rows", "2000", "--poll", "50ms"));
        all.addAll(List.of(options));
        return startExactly(directory, all);
    }

    static RunningRelay startExactly(Path directory, List<String> options) throws IOException {
        Path log = Files.createTempFile(directory, "relay", ".log");
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx256m",
                "-XX:TieredStopAtLevel=1", // most of them live for seconds
                "-XX:+UseSerialGC",
                "-classpath",
                System.getProperty("java.class.path"),
                RelayMain.class.getName()));
        command.addAll(options);
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log.toFile());
        builder.environment().keySet().removeIf(name -> name.startsWith("RELAY_"));
        return new RunningRelay(builder.start(), log);
    }

    long pid() {
        return process.pid();
    }

    String output() throws IOException {
        return Files.readString(log);
    }

    int port() {
        return listening(1);
    }

    int adminPort() {
        return listening(2);
    }

    private int listening(int group) {
        int[] port = new int[1];
        Eventually.until("the relay listens; its log is " + log, () -> {
            Matcher line = LISTENING.matcher(output());
            if (line.find()) {
                port[0] = Integer.parseInt(line.group(group));
                return true;
            }
            if (!process.isAlive()) {
                throw new AssertionError("the relay ended with " + process.exitValue() + ":\n" + output());
            }
            return false;
        });
        return port[0];
    }

    HttpResponse<String> get(String path) throws IOException, InterruptedException {
        HttpRequest request = HttpRequest.newBuilder(URI.create("http://localhost:" + port() + path))
                .timeout(Duration.ofSeconds(20))
                .build();
        return CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
    }

    /** A read of the operator API. */
    HttpResponse<String> operatorGet(String path, String token) throws IOException, InterruptedException {
        return CLIENT.send(operator(path, token).build(), HttpResponse.BodyHandlers.ofString());
    }

    /** A control of the operator API. */
    HttpResponse<String> operatorPost(String path, String token, String requestId)
            throws IOException, InterruptedException {
        HttpRequest request = operator(path, token)
                .header("Idempotency-Key", requestId)
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        return CLIENT.send(request, HttpResponse.BodyHandlers.ofString());
    }

    HttpResponse<String> metrics(String token) throws IOException, InterruptedException {
        return CLIENT.send(operatorPort("/metrics", token).build(), HttpResponse.BodyHandlers.ofString());
    }

    private HttpRequest.Builder operator(String path, String token) {
        return operatorPort("/admin/backfills" + path, token);
    }

    private HttpRequest.Builder operatorPort(String path, String token) {
        return HttpRequest.newBuilder(URI.create("http://localhost:" + adminPort() + path))
                .timeout(Duration.ofSeconds(20))
                .header("Authorization", "Bearer " + token);
    }

    JsonNode readiness() throws IOException, InterruptedException {
        return new ObjectMapper().readTree(get("/readyz").body());
    }

    void awaitReady() {
        Eventually.within(Duration.ofSeconds(60))
                .holds(
                        "the relay is ready; its log is " + log,
                        () -> get("/readyz").statusCode() == 200);
    }

    void awaitStarted() {
        Eventually.within(Duration.ofSeconds(60))
                .holds("the relay has started; its log is " + log, () -> output().contains(" Started: "));
    }

    void awaitNotReadyBecauseOf(String input) {
        Eventually.until("the relay is not ready because of its " + input, () -> {
            JsonNode readiness = readiness();
            JsonNode blamed = readiness.at("/inputs/" + input);
            return !readiness.get("ready").asBoolean()
                    && !blamed.get("ok").asBoolean()
                    && !blamed.get("reason").isNull()
                    && !blamed.get("reason").asText().equals("starting");
        });
    }

    void assertAlive() throws IOException, InterruptedException { // liveness asks nobody: CF-3
        assertThat(get("/healthz").statusCode()).isEqualTo(200);
    }

    /** SIGTERM, and the exit code. */
    int stop() throws InterruptedException {
        process.destroy();
        return exitCode();
    }

    int exitCode() throws InterruptedException {
        assertThat(process.waitFor(10, TimeUnit.SECONDS))
                .as("ended within 10 s")
                .isTrue();
        return process.exitValue();
    }

    /** SIGKILL. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
