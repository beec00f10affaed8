package dev.backfill.example.relay.http;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.host.Readiness;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class ServingTest {

    private static final Readiness.Input OPEN = Readiness.Input.open();

    private final HttpClient client = HttpClient.newHttpClient();
    private final AtomicReference<Readiness> readiness = new AtomicReference<>(new Readiness(OPEN, OPEN, OPEN));
    private Listener listener;

    @BeforeEach
    void listen() throws IOException {
        listener = Listener.open("test", 0, new Serving(readiness::get, Optional::empty));
    }

    @AfterEach
    void close() {
        listener.close();
    }

    @Test
    void it_is_ready_when_every_input_holds() throws Exception { // CF-1
        HttpResponse<String> answer = get("/readyz");
        assertThat(answer.statusCode()).isEqualTo(200);
        assertThat(answer.body())
                .isEqualTo("{\"ready\":true,\"inputs\":{\"database\":{\"ok\":true,\"reason\":null},"
                        + "\"schema\":{\"ok\":true,\"reason\":null},\"backfills\":{\"ok\":true,\"reason\":null}}}");
    }

    @Test
    void one_input_that_does_not_hold_is_named_and_closes_the_gate() throws Exception { // CF-1
        readiness.set(new Readiness(OPEN, OPEN, Readiness.Input.closed("events.thread-root.v1 is running")));
        HttpResponse<String> answer = get("/readyz");
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.body())
                .startsWith("{\"ready\":false,")
                .contains("\"backfills\":{\"ok\":false,\"reason\":\"events.thread-root.v1 is running\"}");
    }

    @Test
    void unknown_is_not_ready() throws Exception { // CF-2
        readiness.set(new Readiness(Readiness.Input.unknown("unreachable"), OPEN, OPEN));
        assertThat(get("/readyz").statusCode()).isEqualTo(503);
    }

    @Test
    void it_lives_whatever_the_readiness() throws Exception { // CF-3
        readiness.set(new Readiness(Readiness.Input.unknown("unreachable"), OPEN, OPEN));
        assertThat(get("/healthz").statusCode()).isEqualTo(200);
    }

    @Test
    void events_need_a_database_and_sensible_limits() throws Exception {
        assertThat(get("/events").statusCode()).isEqualTo(503);
        assertThat(get("/events?limit=0").statusCode()).isEqualTo(400);
        assertThat(get("/events?limit=201").statusCode()).isEqualTo(400);
        assertThat(get("/events?before=now").statusCode()).isEqualTo(400);
    }

    @Test
    void nothing_else_is_served() throws Exception {
        assertThat(get("/admin/backfills").statusCode()).isEqualTo(404);
        HttpRequest post = HttpRequest.newBuilder(uri("/events"))
                .POST(HttpRequest.BodyPublishers.noBody())
                .build();
        assertThat(client.send(post, HttpResponse.BodyHandlers.ofString()).statusCode())
                .isEqualTo(405);
    }

    @Test
    void a_port_that_is_taken_is_named() {
        assertThatThrownBy(() -> Listener.open("http", listener.port(), new Serving(readiness::get, Optional::empty)))
                .isInstanceOf(IOException.class)
                .hasMessageContaining("http port " + listener.port());
    }

    private HttpResponse<String> get(String path) throws IOException, InterruptedException {
        return client.send(HttpRequest.newBuilder(uri(path)).build(), HttpResponse.BodyHandlers.ofString());
    }

    private URI uri(String path) {
        return URI.create("http://localhost:" + listener.port() + path);
    }
}
