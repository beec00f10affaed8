package dev.backfill.example.relay.http;

import dev.backfill.admin.OperatorAuthenticator;
import dev.backfill.admin.ProblemDocument;
import jakarta.servlet.ServletException;
import jakarta.servlet.http.HttpServlet;
import jakarta.servlet.http.HttpServletRequest;
import jakarta.servlet.http.HttpServletResponse;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.http.HttpHeader;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.Request;
import org.eclipse.jetty.server.Response;
import org.eclipse.jetty.server.handler.ErrorHandler;
import org.eclipse.jetty.util.Callback;

/**
 * The operator port. It is open before there is an engine to operate; until then each path answers operators 503, which says "soon",
 * and everybody else what they always hear (AU-4). Thread-safe.
 */
public final class Administration {

    private final ServletContextHandler context = new ServletContextHandler("/");
    private final ConcurrentMap<String, HttpServlet> mounted = new ConcurrentHashMap<>();
    private final OperatorAuthenticator operators;

    /**
     * Before anything is mounted.
     *
     * @param operators who hears that it is soon
     * @param paths what will be served, such as {@code /admin/backfills/*}
     */
    public Administration(OperatorAuthenticator operators, String... paths) {
        this.operators = operators;
        for (String path : paths) {
            context.addServlet(new ServletHolder(new Soon(path)), path);
        }
        context.setErrorHandler(errors());
    }

    /** For the listener. */
    public Handler handler() {
        return context;
    }

    /** Jetty's own refusals in the format of the API, those included that come before any servlet. */
    public static ErrorHandler errors() {
        return new Problems();
    }

    /** Serves one of the paths from now on; for servlets that need no {@code init}. */
    public void mount(String path, HttpServlet servlet) {
        mounted.put(path, servlet);
    }

    private final class Soon extends HttpServlet {

        private static final long serialVersionUID = 1L;

        private final String path;

        Soon(String path) {
            this.path = path;
        }

        @Override
        protected void service(HttpServletRequest request, HttpServletResponse response)
                throws ServletException, IOException {
            HttpServlet servlet = mounted.get(path);
            if (servlet != null) {
                servlet.service(request, response);
                return;
            }
            boolean known = operators.authenticate(request).isPresent() || isConsole(request);
            int status = known ? 503 : 401;
            if (known) {
                response.setHeader("Retry-After", "1");
            } else {
                response.setHeader("WWW-Authenticate", "Bearer realm=\"backfill\"");
            }
            response.setStatus(status);
            response.setHeader("Cache-Control", "no-store");
            response.setHeader("X-Content-Type-Options", "nosniff");
            response.setContentType(ProblemDocument.MEDIA_TYPE);
            response.getOutputStream().write(ProblemDocument.forStatus(status));
        }

        /** Its files need no token, since they show nothing without one. */
        private static boolean isConsole(HttpServletRequest request) {
            String path = request.getPathInfo();
            return path != null && (path.equals("/console") || path.startsWith("/console/"));
        }
    }

    // region jetty-errors
    private static final class Problems extends ErrorHandler {

        @Override
        public boolean handle(Request request, Response response, Callback callback) {
            response.getHeaders().put(HttpHeader.CONTENT_TYPE, ProblemDocument.MEDIA_TYPE);
            response.getHeaders().put(HttpHeader.CACHE_CONTROL, "no-store");
            response.getHeaders().put("X-Content-Type-Options", "nosniff");
            response.write(true, ByteBuffer.wrap(ProblemDocument.forStatus(response.getStatus())), callback);
            return true;
        }
    }
    // endregion
}
