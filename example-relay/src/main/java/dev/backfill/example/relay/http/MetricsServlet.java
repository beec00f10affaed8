package dev.backfill.example.relay.http;

import dev.backfill.BackfillException;
import dev.backfill.admin.OperatorAuthenticator;
import dev.backfill.admin.ProblemDocument;
import dev.backfill.operate.Authority;
import dev.backfill.operate.Authority.Capability;
import dev.backfill.operate.BackfillOperations;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Optional;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** The metrics for Prometheus, for whoever may read backfills. Thread-safe. */
public final class MetricsServlet extends HttpServlet {

    private static final long serialVersionUID = 1L;

    private static final Logger LOG = LoggerFactory.getLogger(MetricsServlet.class);

    private final transient PrometheusMeterRegistry registry;
    private final transient BackfillOperations operations;
    private final transient OperatorAuthenticator authenticator;

    /** Serves a registry to those whom the authenticator names and the operator plane permits to read. */
    public MetricsServlet(
            PrometheusMeterRegistry registry, BackfillOperations operations, OperatorAuthenticator authenticator) {
        this.registry = registry;
        this.operations = operations;
        this.authenticator = authenticator;
    }

    @Override
    protected void doGet(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setHeader("Cache-Control", "no-store");
        response.setHeader("X-Content-Type-Options", "nosniff");
        Optional<Authority> authority = authenticator.authenticate(request);
        if (authority.isEmpty()) {
            recordStranger();
            response.setHeader("WWW-Authenticate", "Bearer realm=\"backfill\"");
            refuse(response, 401);
        } else if (!operations.authorize(authority.get(), Capability.READ, "read", null, null)) {
            refuse(response, 403);
        } else {
            response.setContentType("text/plain; version=0.0.4; charset=utf-8");
            response.getOutputStream().write(registry.scrape().getBytes(StandardCharsets.UTF_8));
        }
    }

    private void recordStranger() {
        try {
            operations.authorize(Authority.anonymous(), Capability.READ, "read", null, null);
        } catch (BackfillException e) {
            LOG.warn("The denial of an unauthenticated request could not be recorded: {}", e.getMessage());
        }
    }

    private static void refuse(HttpServletResponse response, int status) throws IOException {
        response.setStatus(status);
        response.setContentType(ProblemDocument.MEDIA_TYPE);
        response.getOutputStream().write(ProblemDocument.forStatus(status));
    }
}
