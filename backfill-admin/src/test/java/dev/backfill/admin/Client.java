package dev.backfill.admin;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.InputStream;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A client that knows nothing but HTTP. */
public final class Client {

    private static final ObjectMapper MAPPER = new ObjectMapper();

    private final HttpClient http =
            HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    private final URI api;
    private final @Nullable String token;

    /** With a token, or without one. */
    public Client(URI api, @Nullable String token) {
        this.api = api;
        this.token = token;
    }

    /** An answer. */
    public record Answer(int status, java.net.http.HttpHeaders headers, String text) {
        public JsonNode json() {
            try {
                return MAPPER.readTree(text);
            } catch (IOException e) {
                throw new AssertionError("not JSON: " + text, e);
            }
        }

        public String header(String name) {
            return headers.firstValue(name).orElse("");
        }

        public String code() {
            return json().path("code").asText();
        }
    }

    public Answer get(String path) {
        return send("GET", path, null);
    }

    public Answer post(String path, String key) {
        return post(path, key, null);
    }

    public Answer post(String path, String key, @Nullable String json) {
        return json == null
                ? send("POST", path, null, "Idempotency-Key", key)
                : send("POST", path, json, "Idempotency-Key", key, "Content-Type", "application/json");
    }

    public Answer send(String method, String path, @Nullable String body, String... headers) {
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(api + path))
                .timeout(Duration.ofSeconds(20))
                .method(method, body == null ? BodyPublishers.noBody() : BodyPublishers.ofString(body));
        if (token != null) {
            request.header("Authorization", "Bearer " + token);
        }
        for (int i = 0; i < headers.length; i += 2) {
            request.header(headers[i], headers[i + 1]);
        }
        try {
            HttpResponse<String> response = http.send(request.build(), BodyHandlers.ofString());
            return new Answer(response.statusCode(), response.headers(), response.body());
        } catch (IOException e) {
            throw new AssertionError(method + " " + path + " got no answer", e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError(e);
        }
    }

    /**
     * Sends bytes that no HTTP library would send, and returns all that comes back. Once more if that is nothing: a server may take a
     * connection whose one half was closed early for one that is gone.
     */
    static String raw(int port, byte[] bytes) throws IOException {
        String answer = exchange(port, bytes);
        return answer.isEmpty() ? exchange(port, bytes) : answer;
    }

    private static String exchange(int port, byte[] bytes) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.setSoTimeout(20_000);
            socket.getOutputStream().write(bytes);
            socket.getOutputStream().flush();
            socket.shutdownOutput();
            InputStream in = socket.getInputStream();
            return new String(in.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
