package dev.backfill.admin;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.backfill.internal.BoundedText;
import dev.backfill.operate.AccessDeniedException;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.Capability;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.UnknownBackfillException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import jakarta.servlet.http.MappingMatch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Collections;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The operator's HTTP API and its console. Mount it under a prefix, usually {@code /admin/backfills/*}, on a listener that stays
 * reachable while the host is not ready (CF-3):
 *
 * <pre>{@code
 * context.addServlet(new ServletHolder(new BackfillServlet(backfills.operations(), tokens)), "/admin/backfills/*");
 * }</pre>
 *
 * <p>Holds no state besides its collaborators; thread-safe. Sets no cookies and allows no other origin.
 *
 * @since 0.1
 */
public final class BackfillServlet extends HttpServlet {

    private static final long serialVersionUID = 1L;

    private static final Logger LOG = LoggerFactory.getLogger(BackfillServlet.class);
    private static final int MAX_HEADERS = 16 * 1024;
    private static final int MAX_DRAINED = 256 * 1024;
    private static final int MAX_ID = 140;
    private static final int MAX_REQUEST_ID = 128;

    private static final String CONTENT_SECURITY_POLICY = "default-src 'none'; script-src 'self'; style-src 'self';"
            + " img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private final transient BackfillOperations operations;
    private final transient OperatorAuthenticator authenticator;
    private final transient ReadEndpoints reads;
    private final transient ControlEndpoints controls;
    private final transient Settings settings;
    private final transient ConsoleFiles files = new ConsoleFiles();
    private final transient AtomicLong authenticatorFailures = new AtomicLong();

    /** A boundary over an operator plane, for those whom the authenticator names and the plane's authorizer permits. */
    public BackfillServlet(BackfillOperations operations, OperatorAuthenticator authenticator) {
        this.operations = Objects.requireNonNull(operations, "operations");
        this.authenticator = Objects.requireNonNull(authenticator, "authenticator");
        this.reads = new ReadEndpoints(operations);
        this.controls = new ControlEndpoints(operations);
        this.settings = new Settings(operations);
    }

    @Override
    protected void service(HttpServletRequest request, HttpServletResponse response) throws IOException {
        response.setHeader("Cache-Control", "no-store");
        response.setHeader("X-Content-Type-Options", "nosniff");
        response.setHeader("Referrer-Policy", "no-referrer");
        response.setHeader("Content-Security-Policy", CONTENT_SECURITY_POLICY);
        try {
            String path = pathOf(request);
            if (ConsoleFiles.covers(path)) {
                serveFile(request, response, path);
            } else {
                send(response, 200, "application/json", bytes(answer(request, Route.of(path))));
            }
        } catch (Problem problem) {
            drain(request);
            send(response, problem);
        } catch (AccessDeniedException e) {
            send(response, Problem.forbidden());
        } catch (UnknownBackfillException e) {
            send(response, Problem.unknownId());
        } catch (BackfillUnavailableException e) {
            // One line: a console asks every two seconds, and an outage must not fill the log with traces.
            LOG.warn("An operator's request could not be answered: {} {}", e.reason(), e.getMessage());
            LOG.debug("Why it could not be answered", e);
            send(response, ControlEndpoints.unavailable(e));
        } catch (RuntimeException e) {
            LOG.error(
                    "An operator's request failed; this is a defect of the library or of the host's own operations", e);
            send(response, Problem.ofStatus(500));
        }
    }

    private ObjectNode answer(HttpServletRequest request, Route route) throws IOException {
        checkHeaders(request); // first, as a container does it
        // The order is part of the API (AU-4): who asks, what they may do, and only then what they asked for.
        Authority authority = admit(request, route);
        if (route.kind() == Route.Kind.NONE) {
            throw Problem.notFound();
        }
        if (!route.kind().methods().contains(request.getMethod())) {
            throw Problem.ofStatus(405)
                    .with("Allow", String.join(", ", route.kind().methods()));
        }
        return switch (route.kind()) {
            case LIST -> reads.list(authority);
            case AUDIT_OF_ALL -> reads.audit(authority, null, AuditQuery.of(request.getQueryString()));
            case DETAIL -> reads.detail(authority, route.knownId());
            case AUDIT -> auditOfOne(authority, route, AuditQuery.of(request.getQueryString()));
            case PREFLIGHT -> reads.preflight(authority, route.knownId());
            case CONTROL -> control(authority, route, ControlRequest.of(request));
            case PACE ->
                isRead(request)
                        ? settings.pace(authority, route.knownId())
                        : settings.pace(authority, route, PaceBody.of(request));
            case REHEARSAL -> settings.rehearse(authority, route, ControlRequest.of(request));
            case NONE -> throw Problem.notFound();
        };
    }

    private ObjectNode auditOfOne(Authority authority, Route route, AuditQuery query) {
        return reads.audit(authority, route.knownId(), query);
    }

    private ObjectNode control(Authority authority, Route route, ControlRequest asked) {
        return controls.perform(new OperatorRequest(
                Objects.requireNonNull(route.action()), route.knownId(), asked.requestId(), authority, asked.note()));
    }

    private Authority admit(HttpServletRequest request, Route route) {
        Capability needed = isRead(request) ? Capability.READ : Capability.CONTROL;
        String attempted = route.attempted(isRead(request));
        String id = route.id() == null ? null : BoundedText.clean(route.id(), MAX_ID);
        String key = request.getHeader(ControlRequest.KEY_HEADER);
        String requestId = key == null ? null : BoundedText.clean(key, MAX_REQUEST_ID);
        Optional<Authority> authority = authenticate(request);
        if (authority.isEmpty()) {
            recordStranger(needed, attempted, id, requestId);
            throw Problem.unauthenticated();
        }
        if (!operations.authorize(authority.get(), needed, attempted, id, requestId)) {
            throw Problem.forbidden();
        }
        return authority.get();
    }

    private Optional<Authority> authenticate(HttpServletRequest request) {
        try {
            return authenticator.authenticate(request);
        } catch (RuntimeException e) {
            // Its type alone, because it may speak of the credential; and fewer and fewer, because strangers can cause
            // it.
            if (Long.bitCount(authenticatorFailures.incrementAndGet()) == 1) {
                LOG.warn(
                        "The authenticator failed ({}); such requests count as ones without a credential",
                        e.getClass().getName());
            }
            return Optional.empty();
        }
    }

    private void recordStranger(Capability needed, String attempted, @Nullable String id, @Nullable String requestId) {
        try {
            // The answer is 401 whatever this says: it is asked for the audit record alone (AU-3).
            operations.authorize(Authority.anonymous(), needed, attempted, id, requestId);
        } catch (RuntimeException e) {
            LOG.warn("The denial of an unauthenticated request could not be recorded", e);
        }
    }

    private void serveFile(HttpServletRequest request, HttpServletResponse response, String path) throws IOException {
        if (!isRead(request)) {
            throw Problem.ofStatus(405).with("Allow", "GET, HEAD");
        }
        if (path.equals("/console")) {
            // Relative, so that it holds behind any prefix a proxy adds.
            response.setStatus(308);
            response.setHeader("Location", "console/");
            return;
        }
        ConsoleFiles.StaticFile file = files.find(path).orElseThrow(Problem::notFound);
        send(response, 200, file.type(), file.bytes());
    }

    private static boolean isRead(HttpServletRequest request) {
        return request.getMethod().equals("GET") || request.getMethod().equals("HEAD");
    }

    private static String pathOf(HttpServletRequest request) {
        try {
            if (request.getHttpServletMapping().getMappingMatch() == MappingMatch.DEFAULT) {
                return request.getServletPath();
            }
            return request.getPathInfo() == null ? "" : request.getPathInfo();
        } catch (IllegalArgumentException e) {
            // Containers differ in how they refuse a path that has more than one reading.
            throw Problem.badRequest("bad_request", "The path has more than one reading.");
        }
    }

    private static void checkHeaders(HttpServletRequest request) {
        int total = 0;
        for (String name : Collections.list(request.getHeaderNames())) {
            for (String value : Collections.list(request.getHeaders(name))) {
                total += name.length() + value.length();
            }
        }
        if (total > MAX_HEADERS) {
            throw Problem.ofStatus(431);
        }
    }

    /**
     * Reads what is left of a refused body, within limits: a container that closes a connection with unread bytes resets it, and the
     * client never sees why it was refused.
     */
    private static void drain(HttpServletRequest request) {
        if (request.getHeader("Expect") != null) {
            return;
        }
        try {
            request.getInputStream().skipNBytes(MAX_DRAINED);
        } catch (IOException e) {
            LOG.trace("The rest of a refused body could not be read", e);
        }
    }

    private static byte[] bytes(ObjectNode json) {
        return json.toString().getBytes(StandardCharsets.UTF_8);
    }

    private static void send(HttpServletResponse response, Problem problem) throws IOException {
        problem.headers().forEach(response::setHeader);
        send(response, problem.status(), ProblemDocument.MEDIA_TYPE, bytes(problem.json()));
    }

    private static void send(HttpServletResponse response, int status, String type, byte[] body) throws IOException {
        response.setStatus(status);
        response.setContentType(type);
        response.setContentLength(body.length);
        response.getOutputStream().write(body);
    }
}
