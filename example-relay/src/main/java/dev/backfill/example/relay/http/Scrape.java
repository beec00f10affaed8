package dev.backfill.example.relay.http;

import dev.backfill.Authority;
import dev.backfill.BackfillOperations;
import dev.backfill.Capability;
import dev.backfill.admin.OperatorAuthenticator;
import dev.backfill.admin.ProblemDocument;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;

/**
 * Metrics for Prometheus, on the operator port and behind the capability to read: they say which repairs a deployment runs and how it
 * fares, which is nobody else's business. Thread-safe.
 */
public final class Scrape extends HttpServlet {

    private static final long serialVersionUID = 1L;
    private static final String TEXT = "text/plain; version=0.0.4; charset=utf-8";

    private final transient PrometheusMeterRegistry registry;
    private final transient BackfillOperations operations;
    private final transient OperatorAuthenticator authenticator;

    /** Serves a registry to those who may read backfills. */
    public Scrape(
            PrometheusMeterRegistry registry, BackfillOperations operations, OperatorAuthenticator authenticator) {
        this.registry = registry;
        this.operations = operations;
        this.authenticator = authenticator;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setHeader("Cache-Control", "no-store");
        response.setHeader("X-Content-Type-Options", "nosniff");
        Authority authority = authenticator.authenticate(request).orElseGet(Authority::anonymous);
        if (!operations.authorize(authority, Capability.READ, "metrics", null, null)) {
            boolean unknown = authority.kind() == Authority.Kind.ANONYMOUS;
            int status = unknown ? 401 : 403;
            if (unknown) {
                response.setHeader("WWW-Authenticate", "Bearer");
            }
            response.setStatus(status);
            response.setContentType(ProblemDocument.MEDIA_TYPE);
            response.getOutputStream().write(ProblemDocument.forStatus(status));
            return;
        }
        response.setContentType(TEXT);
        response.getOutputStream().write(registry.scrape(TEXT).getBytes(StandardCharsets.UTF_8));
    }
}
