package dev.backfill.example.relay;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backfill.admin.Client;
import dev.backfill.admin.OpenApi;
import dev.backfill.example.relay.backfills.EventCounts;
import dev.backfill.example.relay.backfills.ThreadRoots;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A client that knows the description of the API and nothing else, against a real relay. */
@PostgresTest
class OperatorApiIT {

    private static final String TOKEN = "a-token-of-the-test";
    private static final String ID = ThreadRoots.ID;

    private final TestDatabase database;
    private final OpenApi openApi = new OpenApi();

    @TempDir
    Path directory;

    OperatorApiIT(TestDatabase database) {
        this.database = database;
    }

    @BeforeEach
    void empty() {
        database.clear();
    }

    @Test
    void a_whole_life_can_be_steered_and_every_answer_is_as_described() throws Exception { // LC, IK, EV
        try (RunningRelay relay = relay("--batch-size", "2")) {
            Client client = client(relay);
            judge("get", "/", client.get("/"));
            judge("get", "/{id}/preflight", client.get("/" + ID + "/preflight"));
            assertThat(post(client, "resume", "k0").code()).isEqualTo("illegal_transition");
            assertThat(post(client, "validate", "v0").json().path("reason").asText())
                    .isEqualTo("not_started");
            Client.Answer started = post(client, "start", "k1");
            assertThat(started.json().path("result").asText()).isEqualTo("applied");
            assertThat(started.json().at("/backfill/bound/kind").asText()).isEqualTo("at");
            assertThat(post(client, "start", "k2").json().path("result").asText())
                    .isEqualTo("converged");
            assertThat(post(client, "pause", "k3").json().at("/backfill/state").asText())
                    .isEqualTo("paused");
            Client.Answer replayed = post(client, "start", "k1");
            assertThat(replayed.json().path("replayed").asBoolean()).isTrue();
            assertThat(replayed.json().path("result").asText()).isEqualTo("applied");
            assertThat(replayed.json().at("/backfill/state").asText()).isEqualTo("paused");
            assertThat(post(client, "pause", "k1").code()).isEqualTo("request_id_reused");
            assertThat(post(client, "resume", "k4").status()).isEqualTo(200);
            awaitState(client, "completed");
            for (String action : List.of("start", "pause", "resume", "retry")) {
                assertThat(post(client, action, "late-" + action).code()).isEqualTo("illegal_transition");
            }
            JsonNode done = client.get("/" + ID).json();
            assertThat(done.path("actions").toString()).isEqualTo("[\"validate\"]");
            assertThat(done.at("/bound/key")).isEqualTo(done.path("checkpoint"));
            judge("get", "/{id}/audit", client.get("/" + ID + "/audit?limit=200"));
            judge("get", "/audit", client.get("/audit?limit=2"));
        }
    }

    @Test
    void validation_of_a_completed_backfill_reports_and_changes_nothing() throws Exception { // EV-3, CT-11
        try (RunningRelay relay = relay()) {
            Client client = client(relay);
            post(client, "start", "k1");
            awaitState(client, "completed");
            Client.Answer success = post(client, "validate", "v1");
            assertThat(success.json().path("outcome").asText()).isEqualTo("success");
            JsonNode before = client.get("/" + ID).json();
            database.update(
                    "UPDATE events SET thread_root = NULL WHERE id = (SELECT min(id) FROM events WHERE tags ?? 'e')");
            Client.Answer failure = post(client, "validate", "v2");
            assertThat(failure.json().path("outcome").asText()).isEqualTo("failure");
            assertThat(failure.json().at("/diagnostic/code").asText()).isEqualTo("validation-rejected");
            JsonNode after = client.get("/" + ID).json();
            for (String same :
                    List.of("state", "bound", "checkpoint", "claim", "progress", "completed_at", "completed_lsn")) {
                assertThat(after.path(same)).as(same).isEqualTo(before.path(same));
            }
            assertThat(after.at("/validation/disposition").asText()).isEqualTo("failure");
            Client.Answer again = post(client, "validate", "v1");
            assertThat(again.json().path("outcome").asText()).isEqualTo("success");
            assertThat(again.json().path("replayed").asBoolean()).isTrue();
        }
    }

    @Test
    void an_answer_lost_after_the_commit_is_recovered_by_the_same_key() throws Exception { // IK-2
        try (RunningRelay relay = relay("--batch-size", "1");
                LossyProxy proxy = new LossyProxy(relay.adminPort())) {
            client(relay);
            Client lossy = new Client(URI.create("http://localhost:" + proxy.port() + "/admin/backfills"), TOKEN);
            proxy.loseAnswers(1);
            assertThat(ends(() -> lossy.post("/" + ID + "/start", "k1"))).isEqualTo("lost");
            assertThat(proxy.lost()).isPositive();
            Client.Answer again = lossy.post("/" + ID + "/start", "k1");
            assertThat(again.json().path("result").asText()).isEqualTo("applied");
            assertThat(again.json().path("replayed").asBoolean()).isTrue();
            assertThat(database.queryLong(
                            "SELECT count(*) FROM backfill_audit WHERE request_id = 'k1' AND outcome = 'applied'"))
                    .isEqualTo(1);
        }
    }

    @Test
    void of_many_operators_at_once_one_applies_and_all_agree() throws Exception { // IK-2, CT-10
        try (RunningRelay relay = relay("--batch-size", "1")) {
            client(relay);
            List<Client.Answer> answers = atOnce(12, n -> untilAnswered(relay, "k" + n % 6));
            assertThat(answers).allMatch(answer -> answer.status() == 200);
            assertThat(answers.stream()
                            .filter(answer ->
                                    answer.json().path("result").asText().equals("applied"))
                            .map(answer -> answer.json().path("request_id").asText())
                            .distinct())
                    .hasSize(1);
            assertThat(answers.stream()
                            .map(answer -> answer.json().at("/backfill/bound").toString())
                            .distinct())
                    .hasSize(1);
        }
    }

    @Test
    void strangers_and_typing_errors_change_nothing_and_learn_nothing() throws Exception { // AU-4
        try (RunningRelay relay = relay()) {
            Client client = client(relay);
            Client stranger = new Client(api(relay), "wrong");
            String refusal = stranger.get("/" + ID).text();
            for (String path : List.of("/", "/nobody", "/audit", "/" + ID + "/audit", "/x/y/z")) {
                assertThat(stranger.get(path).text()).isEqualTo(refusal);
            }
            assertThat(stranger.post("/" + ID + "/start", "k").text()).isEqualTo(refusal);
            for (String id : List.of("nobody", "UPPER", "%20", "a".repeat(200), "%F0%9F%92%A9")) {
                Client.Answer answer = client.post("/" + id + "/start", "k");
                assertThat(answer.status()).as(id).isBetween(400, 404);
                assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
            }
            judge("post", "/{id}/start", client.post("/nobody/start", "k"));
            judge("get", "/{id}/audit", client.get("/nobody/audit"));
            judge("get", "/{id}/preflight", client.get("/nobody/preflight"));
            assertThat(client.get("/" + ID).json().path("state").asText()).isEqualTo("pending");
            JsonNode audit = client.get("/audit?limit=200").json().path("items");
            assertThat(audit.toString()).contains("\"denied\"", "\"anonymous\"").doesNotContain(TOKEN, "wrong");
        }
    }

    @Test
    void notes_of_any_characters_come_back_as_one_safe_line() throws Exception { // AU-5
        try (RunningRelay relay = relay("--batch-size", "1")) {
            Client client = client(relay);
            String note = "<script>\\u0000\\u202e\\nشغّل 🐘 '; DROP TABLE backfill; --";
            assertThat(client.post("/" + EventCounts.ID + "/start", "k1", "{\"note\":\"" + note + "\"}")
                            .status())
                    .isEqualTo(200);
            String kept = client.get("/" + EventCounts.ID + "/audit")
                    .json()
                    .at("/items")
                    .findPath("note")
                    .asText();
            assertThat(kept).contains("<script>", "🐘", "DROP TABLE").doesNotContain("\n", "\u0000", "\u202e");
        }
    }

    /** As the API asks of clients: what was not done for want of a connection is sent again as the same request. */
    private static Client.Answer untilAnswered(RunningRelay relay, String key) {
        Client client = new Client(api(relay), TOKEN);
        AtomicReference<Client.Answer> answer = new AtomicReference<>();
        Eventually.until("an answer", () -> {
            answer.set(client.post("/" + ID + "/start", key));
            return answer.get().status() != 503;
        });
        return answer.get();
    }

    private RunningRelay relay(String... more) throws Exception {
        List<String> options = new ArrayList<>(
                List.of("--jdbc-url", database.jdbcUrl(), "--admin-token", TOKEN, "--auto-backfill", "off"));
        options.addAll(List.of(more));
        return RunningRelay.start(directory, options.toArray(String[]::new));
    }

    private static URI api(RunningRelay relay) {
        return URI.create("http://localhost:" + relay.adminPort() + "/admin/backfills");
    }

    private static Client client(RunningRelay relay) {
        relay.awaitStarted();
        return new Client(api(relay), TOKEN);
    }

    private Client.Answer post(Client client, String action, String key) {
        Client.Answer answer = client.post("/" + ID + "/" + action, key);
        judge("post", "/{id}/" + action, answer);
        return answer;
    }

    private void judge(String method, String template, Client.Answer answer) {
        openApi.judge(template, method, answer);
    }

    private void awaitState(Client client, String state) {
        Eventually.within(Duration.ofMinutes(2)).holds("it is " + state, () -> {
            Client.Answer detail = client.get("/" + ID);
            judge("get", "/{id}", detail);
            return detail.json().path("state").asText().equals(state);
        });
    }

    private static String ends(Callable<Client.Answer> request) throws Exception {
        try {
            return "answered " + request.call().status();
        } catch (AssertionError lost) {
            return "lost";
        }
    }

    private interface Numbered {
        Client.Answer send(int number) throws Exception;
    }

    private static List<Client.Answer> atOnce(int count, Numbered request) throws Exception {
        ExecutorService threads = Executors.newFixedThreadPool(count);
        try {
            CyclicBarrier barrier = new CyclicBarrier(count);
            List<Future<Client.Answer>> running = new ArrayList<>();
            for (int i = 0; i < count; i++) {
                int number = i;
                running.add(threads.submit(() -> {
                    barrier.await();
                    return request.send(number);
                }));
            }
            List<Client.Answer> answers = new ArrayList<>();
            for (Future<Client.Answer> one : running) {
                answers.add(one.get());
            }
            return answers;
        } finally {
            threads.shutdownNow();
        }
    }
}
