package dev.backfill.admin.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** The HTTP API from outside. Sends a control again, with the same request ID, while its outcome is not known (IK-2). */
final class Api {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Duration CONNECT = Duration.ofSeconds(5);
    private static final Duration ANSWER = Duration.ofSeconds(20);
    private static final int SENDS = 4;

    private final HttpClient http = HttpClient.newBuilder()
            .version(HttpClient.Version.HTTP_1_1)
            .connectTimeout(CONNECT)
            // Never followed: a redirect would carry the token to somewhere else.
            .followRedirects(HttpClient.Redirect.NEVER)
            .build();
    private final URI base;
    private final String token;
    private final Surroundings.Pause pause;

    Api(URI base, String token, Surroundings.Pause pause) {
        this.base = base;
        this.token = token;
        this.pause = pause;
    }

    /**
     * An answer.
     *
     * @param status the HTTP status
     * @param body the JSON
     * @param retryAfter when a 503 says to come back
     */
    record Reply(int status, JsonNode body, Duration retryAfter) {
        boolean ok() {
            return status == 200;
        }

        String text(String member) {
            return body.path(member).asText("");
        }
    }

    /** Reads a path below the API; throws when no answer of the API comes back. */
    Reply get(String path) throws InterruptedException {
        return send(request(path).GET().build())
                .orElseThrow(() -> new CliException(ExitCode.UNAVAILABLE, "No answer from " + base + "."));
    }

    /** Sends a control until its outcome is known, a few times at most. Empty: it is not known whether it happened. */
    Optional<Reply> control(String id, String action, String requestId, @Nullable String note)
            throws InterruptedException {
        HttpRequest.Builder request = request("/" + encoded(id) + "/" + action);
        if (note == null) {
            request.POST(BodyPublishers.noBody());
        } else {
            String body = JSON.createObjectNode().put("note", note).toString();
            request.header("Content-Type", "application/json").POST(BodyPublishers.ofString(body));
        }
        return untilKnown(request.header("Idempotency-Key", requestId));
    }

    /** Puts a setting, as often and as safely as {@link #control}. */
    Optional<Reply> put(String id, String setting, String requestId, JsonNode body) throws InterruptedException {
        return untilKnown(request("/" + encoded(id) + "/" + setting)
                .header("Idempotency-Key", requestId)
                .header("Content-Type", "application/json")
                .PUT(BodyPublishers.ofString(body.toString())));
    }

    private Optional<Reply> untilKnown(HttpRequest.Builder request) throws InterruptedException {
        boolean lost = false;
        Optional<Reply> reply = Optional.empty();
        for (int sends = 1; sends <= SENDS; sends++) {
            reply = send(request.build());
            lost |= reply.isEmpty();
            boolean settled = reply.isPresent()
                    && reply.get().status() != 503
                    && reply.get().status() != 500;
            if (settled || sends == SENDS) {
                break;
            }
            Duration backoff = Duration.ofSeconds(1L << (sends - 1));
            Duration asked = reply.map(Reply::retryAfter).orElse(Duration.ZERO);
            pause.forAbout(backoff.compareTo(asked) > 0 ? backoff : asked);
        }
        // A 503 speaks of this copy; an earlier one whose answer was lost may have changed something.
        return lost && reply.isPresent() && reply.get().status() >= 500 ? Optional.empty() : reply;
    }

    static String encoded(String id) {
        return URLEncoder.encode(id, StandardCharsets.UTF_8).replace("+", "%20");
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(base + path))
                .timeout(ANSWER)
                .header("Authorization", "Bearer " + token)
                .header("Accept", "application/json");
    }

    private Optional<Reply> send(HttpRequest request) throws InterruptedException {
        try {
            HttpResponse<String> response =
                    http.send(request, HttpResponse.BodyHandlers.ofString(StandardCharsets.UTF_8));
            String type = response.headers().firstValue("Content-Type").orElse("");
            if (!type.startsWith("application/json") && !type.startsWith("application/problem+json")) {
                return stranger(response.statusCode());
            }
            Duration retryAfter = Duration.ofSeconds(response.headers()
                    .firstValue("Retry-After")
                    .filter(text -> text.matches("[0-9]{1,3}"))
                    .map(Long::parseLong)
                    .orElse(0L));
            return Optional.of(new Reply(response.statusCode(), JSON.readTree(response.body()), retryAfter));
        } catch (IOException e) {
            return Optional.empty();
        }
    }

    /** A page of something in between: a proxy's 502 tells nothing about the API, another one's 404 tells of a wrong URL. */
    private Optional<Reply> stranger(int status) {
        if (status >= 500) {
            return Optional.empty();
        }
        throw new CliException(
                ExitCode.UNEXPECTED,
                base + " answered " + status + " without JSON; is --url the path where the API is mounted?");
    }
}
