package dev.backfill.testkit.conformance;

import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** A client of the operator API that knows no more than its description. */
final class OperatorClient {

    /** What a detail is, for failures. */
    static final String DETAIL = "the detail of a backfill, GET /{id}";

    private static final HttpClient HTTP =
            HttpClient.newBuilder().connectTimeout(Duration.ofSeconds(10)).build();

    private final String base;
    private final String token;

    OperatorClient(URI base, String token) {
        String text = base.toString();
        this.base = text.endsWith("/") ? text.substring(0, text.length() - 1) : text;
        this.token = token;
    }

    /**
     * An answer.
     *
     * @param status its status
     * @param body its JSON, without blanks between its tokens
     */
    record Answer(int status, String body) {

        /** The first field of that name, as text without quotes; empty when there is none. */
        String field(String name) {
            Matcher field = Pattern.compile("\"" + name + "\":(?:\"([^\"]*)\"|([^,}\\]]+))")
                    .matcher(body);
            if (!field.find()) {
                return "";
            }
            return field.group(1) == null ? field.group(2) : field.group(1);
        }

        /** The first object of that name, as text; empty when there is none. */
        String part(String name) {
            Matcher part = Pattern.compile("\"" + name + "\":\\{[^}]*}").matcher(body);
            return part.find() ? part.group() : "";
        }
    }

    Answer get(String path) {
        return send(request(path).GET().build());
    }

    Answer control(String path, @Nullable String key) {
        HttpRequest.Builder request = request(path).POST(HttpRequest.BodyPublishers.noBody());
        return send((key == null ? request : request.header("Idempotency-Key", key)).build());
    }

    static Answer plain(URI uri) {
        return send(HttpRequest.newBuilder(uri).timeout(Duration.ofSeconds(20)).build());
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(base + path))
                .timeout(Duration.ofSeconds(20))
                .header("Authorization", "Bearer " + token);
    }

    private static Answer send(HttpRequest request) {
        try {
            HttpResponse<String> response = HTTP.send(request, HttpResponse.BodyHandlers.ofString());
            return new Answer(
                    response.statusCode(), response.body().replaceAll("(?<=[\\[{,:])\\s+|\\s+(?=[\\]},:])", ""));
        } catch (IOException e) {
            throw new AssertionError("The host does not answer at " + request.uri() + ": " + e, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new AssertionError("Interrupted while the host was asked.", e);
        }
    }
}
