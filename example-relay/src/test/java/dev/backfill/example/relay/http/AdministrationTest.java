package dev.backfill.example.relay.http;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.admin.BearerTokens;
import dev.backfill.admin.ProblemDocument;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The operator port in the seconds before there is an engine. */
class AdministrationTest {

    private static final String TOKEN = "a-token-of-the-test";
    private static final String API = "/admin/backfills";

    private final HttpClient client = HttpClient.newHttpClient();
    private final Administration administration =
            new Administration(BearerTokens.builder().operator("olga", TOKEN).build(), API + "/*", "/metrics");
    private Listener listener;

    @BeforeEach
    void listen() throws IOException {
        listener = Listener.open("test", 0, administration.handler());
    }

    @AfterEach
    void close() {
        listener.close();
    }

    @ParameterizedTest
    @ValueSource(strings = {API, API + "/some.id.v1", API + "/audit", API + "/consoles", "/metrics"})
    void a_stranger_hears_the_same_before_there_is_an_engine_as_after(String path) throws Exception { // AU-1, AU-4
        for (String authorization : new String[] {"", "Bearer wrong", "Basic " + TOKEN}) {
            HttpResponse<String> answer = get(path, authorization);
            assertThat(answer.statusCode()).as(authorization).isEqualTo(401);
            assertThat(answer.headers().firstValue("WWW-Authenticate")).contains("Bearer realm=\"backfill\"");
            assertThat(answer.headers().firstValue("Retry-After")).isEmpty();
            expectProblem(answer, "unauthenticated");
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {API, API + "/some.id.v1", "/metrics"})
    void an_operator_hears_that_it_is_soon(String path) throws Exception { // CF-3
        HttpResponse<String> answer = get(path, "Bearer " + TOKEN);
        assertThat(answer.statusCode()).isEqualTo(503);
        assertThat(answer.headers().firstValue("Retry-After")).contains("1");
        expectProblem(answer, "unavailable");
    }

    @Test
    void the_console_needs_no_token_and_is_there_soon() throws Exception {
        HttpResponse<String> answer = get(API + "/console/", "");
        assertThat(answer.statusCode()).isEqualTo(503);
        expectProblem(answer, "unavailable");
    }

    @Test
    void what_is_mounted_decides_by_itself() throws Exception {
        administration.mount("/metrics", new HttpServlet() {

            private static final long serialVersionUID = 1L;

            @Override
            protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
                response.getOutputStream().write('m');
            }
        });
        assertThat(get("/metrics", "").body()).isEqualTo("m");
        assertThat(get(API, "").statusCode()).isEqualTo(401);
    }

    private static void expectProblem(HttpResponse<String> answer, String code) {
        assertThat(answer.body()).contains("\"code\":\"" + code + "\"");
        assertThat(answer.headers().firstValue("Content-Type").orElse("")).startsWith(ProblemDocument.MEDIA_TYPE);
        assertThat(answer.headers().firstValue("Cache-Control")).contains("no-store");
        assertThat(answer.headers().firstValue("X-Content-Type-Options")).contains("nosniff");
    }

    private HttpResponse<String> get(String path, String authorization) throws IOException, InterruptedException {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create("http://localhost:" + listener.port() + path));
        if (!authorization.isEmpty()) {
            request.header("Authorization", authorization);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
}
