package dev.backfill.admin;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.backfill.internal.BoundedText;
import dev.backfill.operate.AccessDeniedException;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.Authority.Capability;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.BackfillUnavailableException;
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
import java.util.function.Predicate;
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
 * <p>Holds no state besides its collaborators; thread-safe. Sets no cookies and allows no other origin. Executes nothing of a request
 * that did not arrive whole within five seconds, and never waits for the body of a stranger. One read of a body waits as long as the
 * container's idle timeout; set that to ten seconds or less.
 *
 * @since 0.1
 */
public final class BackfillServlet extends HttpServlet {

    private static final long serialVersionUID = 1L;

    private static final Logger LOG = LoggerFactory.getLogger(BackfillServlet.class);
    private static final int MAX_HEADERS = 16 * 1024;
    private static final int MAX_ID = 140;
    private static final int MAX_REQUEST_ID = 128;

    private static final String CONTENT_SECURITY_POLICY = "default-src 'none'; script-src 'self'; style-src 'self';"
            + " img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

    private final transient BackfillOperations operations;
    private final transient OperatorAuthenticator authenticator;
    private final transient ReadEndpoints reads;
    private final transient ControlEndpoints controls;
    private final transient Settings settings;
    private final transient Judgements judgements;
    private final transient RequestBody bodies;
    private final transient ConsoleFiles files = new ConsoleFiles();
    private final transient AtomicLong authenticatorFailures = new AtomicLong();
    private final transient AtomicLong unrecordedStrangers = new AtomicLong();

    /**
     * A boundary over an operator plane, for those whom the authenticator names and the plane's authorizer permits. Chunked bodies are
     * refused with 411, because some containers don't tell whether such a body arrived whole.
     */
    public BackfillServlet(BackfillOperations operations, OperatorAuthenticator authenticator) {
        this(operations, authenticator, new RequestBody(null, System::nanoTime));
    }

    /**
     * The same for a host whose container tells whether a chunked body arrived whole; {@code docs/operator-api.md} has the line for
     * Jetty.
     *
     * @param arrivedWhole called on the container's thread after a chunked body was read to its end; false if the client was cut off
     *     before it had sent all of it, and then nothing is done. Must be thread-safe
     */
    public BackfillServlet(
            BackfillOperations operations,
            OperatorAuthenticator authenticator,
            Predicate<HttpServletRequest> arrivedWhole) {
        this(
                operations,
                authenticator,
                new RequestBody(Objects.requireNonNull(arrivedWhole, "arrivedWhole"), System::nanoTime));
    }

    private BackfillServlet(BackfillOperations operations, OperatorAuthenticator authenticator, RequestBody bodies) {
        this.bodies = bodies;
        this.operations = Objects.requireNonNull(operations, "operations");
        this.authenticator = Objects.requireNonNull(authenticator, "authenticator");
        this.reads = new ReadEndpoints(operations);
        this.controls = new ControlEndpoints(operations);
        this.settings = new Settings(operations);
        this.judgements = new Judgements(operations);
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
                checkHeaders(request); // first, as a container does it
                Route route = Route.of(path);
                // The order is part of the API (AU-4): who asks, what they may do, and only then what they asked for.
                Authority authority = admit(request, route);
                send(response, 200, "application/json", bytes(recorded(request, route, authority)));
            }
        } catch (Problem problem) {
            send(response, problem);
            response.flushBuffer();
            RefusedBody.drain(request);
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

    /** A control that was malformed never reaches the operator plane, so its record is asked for here (AU-3). */
    private ObjectNode recorded(HttpServletRequest request, Route route, Authority authority) throws IOException {
        try {
            return answer(request, route, authority);
        } catch (Problem problem) {
            if (!isRead(request) && isMalformed(route, problem)) {
                String id = route.id() == null ? null : BoundedText.clean(route.id(), MAX_ID);
                String key = request.getHeader(ControlBody.KEY_HEADER);
                operations.rejected(
                        authority,
                        route.attempted(false),
                        id,
                        key == null ? null : BoundedText.clean(key, MAX_REQUEST_ID),
                        AuditRecord.Outcome.MALFORMED);
            }
            throw problem;
        }
    }

    private static boolean isMalformed(Route route, Problem problem) {
        return switch (problem.status()) {
            case 400, 405, 408, 411, 413, 415 -> true;
            default -> route.kind() == Route.Kind.NONE;
        };
    }

    private ObjectNode answer(HttpServletRequest request, Route route, Authority authority) throws IOException {
        if (route.kind() == Route.Kind.NONE) {
            throw Problem.notFound();
        }
        if (!route.kind().methods().contains(request.getMethod())) {
            throw Problem.ofStatus(405)
                    .with("Allow", String.join(", ", route.kind().methods()));
        }
        return isRead(request) ? seen(request, route, authority) : done(request, route, authority);
    }

    private ObjectNode seen(HttpServletRequest request, Route route, Authority authority) {
        return switch (route.kind()) {
            case LIST -> reads.list(authority, ListQuery.of(request.getQueryString()));
            case AUDIT_OF_ALL -> reads.audit(authority, null, AuditQuery.of(request.getQueryString()));
            case DETAIL -> reads.detail(authority, route.knownId(), request.getQueryString());
            case AUDIT -> auditOfOne(authority, route, AuditQuery.of(request.getQueryString()));
            case PREFLIGHT -> reads.preflight(authority, route.knownId());
            case VERDICTS -> judgements.verdicts(authority, route.knownId());
            case EVIDENCE -> judgements.evidence(authority, route.knownId());
            case PACE -> settings.pace(authority, route.knownId());
            case CONTROL, REHEARSAL, NONE -> throw Problem.notFound();
        };
    }

    private ObjectNode done(HttpServletRequest request, Route route, Authority authority) throws IOException {
        byte[] body = bodies.of(request);
        return switch (route.kind()) {
            case CONTROL -> control(authority, route, ControlBody.of(request, body));
            case PACE -> settings.pace(authority, route, PaceBody.of(request, body));
            case REHEARSAL -> settings.rehearse(authority, route, ControlBody.of(request, body));
            case LIST, AUDIT_OF_ALL, DETAIL, AUDIT, PREFLIGHT, VERDICTS, EVIDENCE, NONE -> throw Problem.notFound();
        };
    }

    private ObjectNode auditOfOne(Authority authority, Route route, AuditQuery query) {
        return reads.audit(authority, route.knownId(), query);
    }

    private ObjectNode control(Authority authority, Route route, ControlBody asked) {
        return controls.perform(Objects.requireNonNull(route.action()), asked.by(authority, route.knownId()));
    }

    private Authority admit(HttpServletRequest request, Route route) {
        Capability needed = isRead(request) ? Capability.READ : Capability.CONTROL;
        String attempted = route.attempted(isRead(request));
        String id = route.id() == null ? null : BoundedText.clean(route.id(), MAX_ID);
        String key = request.getHeader(ControlBody.KEY_HEADER);
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
            // Fewer and fewer lines, because strangers can cause them.
            long failures = unrecordedStrangers.incrementAndGet();
            if (Long.bitCount(failures) == 1) {
                LOG.warn("The denials of {} unauthenticated requests could not be recorded so far", failures, e);
            }
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
