package dev.backfill.example.shop;

import java.net.CookieManager;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Somebody with cookies, who follows no redirect. */
final class Browser {

    private static final Pattern CSRF = Pattern.compile("name=\"_csrf\"[^>]*value=\"([^\"]+)\"");

    private final HttpClient http =
            HttpClient.newBuilder().cookieHandler(new CookieManager()).build();
    private final String base;

    Browser(int port) {
        this.base = "http://localhost:" + port;
    }

    HttpResponse<String> get(String path) throws Exception {
        return send(request(path).GET());
    }

    /** A control of the operators' API, with a CSRF token or, for null, without. */
    HttpResponse<String> control(String path, String csrf) throws Exception {
        HttpRequest.Builder request = request(path)
                .header("Idempotency-Key", "shop-test-" + System.nanoTime())
                .POST(HttpRequest.BodyPublishers.noBody());
        return send(csrf == null ? request : request.header("X-CSRF-TOKEN", csrf));
    }

    HttpResponse<String> post(String path, String csrf, String json) throws Exception {
        return send(request(path)
                .header("Content-Type", "application/json")
                .header("X-CSRF-TOKEN", csrf)
                .POST(HttpRequest.BodyPublishers.ofString(json)));
    }

    /** Logs in with the application's form; returns where that leads. */
    String logIn(String name) throws Exception {
        String form = "username=" + name + "&password=" + name + "&_csrf="
                + URLEncoder.encode(csrf(), StandardCharsets.UTF_8);
        return send(request("/login")
                        .header("Content-Type", "application/x-www-form-urlencoded")
                        .POST(HttpRequest.BodyPublishers.ofString(form)))
                .headers()
                .firstValue("Location")
                .orElse("nowhere");
    }

    /** A token as the application's pages carry it. */
    String csrf() throws Exception {
        Matcher token = CSRF.matcher(get("/login").body());
        if (!token.find()) {
            throw new AssertionError("The login page has no CSRF token.");
        }
        return token.group(1);
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(URI.create(base + path)).timeout(Duration.ofSeconds(30));
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws Exception {
        return http.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }
}
