package dev.backfill.admin;

import jakarta.servlet.DispatcherType;
import jakarta.servlet.Filter;
import jakarta.servlet.http.HttpServletRequest;
import java.net.URI;
import java.util.EnumSet;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.eclipse.jetty.ee10.servlet.FilterHolder;
import org.eclipse.jetty.ee10.servlet.ServletContextHandler;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.ee10.servlet.ServletHolder;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;

/** A host on Jetty with the boundary mounted as the documentation says. Loopback only. */
final class TestHost implements AutoCloseable {

    static final String ANA = "ana-0123456789abcdef";
    static final String BEN = "ben-0123456789abcdef";
    static final String READER = "eye-0123456789abcdef";

    final ScriptedOperations operations;
    private final Server server = new Server();
    private final ServerConnector connector;
    private final AtomicInteger answersToDrop = new AtomicInteger();

    /** While true, no token is valid. */
    volatile boolean revoked;

    TestHost() throws Exception {
        this(0);
    }

    private TestHost(int port) throws Exception {
        // region tokens
        BearerTokens tokens = BearerTokens.builder()
                .operator("ana", ANA)
                .operator("ben", BEN)
                .reader("dashboard", READER)
                .build();
        // endregion
        OperatorAuthenticator authenticator = request -> revoked ? Optional.empty() : tokens.authenticate(request);
        operations = new ScriptedOperations(tokens);
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setRequestHeaderSize(32 * 1024);
        connector = new ServerConnector(server, new HttpConnectionFactory(http));
        connector.setHost("127.0.0.1");
        connector.setPort(port);
        server.addConnector(connector);
        connector.setIdleTimeout(10_000);
        // region mount
        ServletContextHandler context = new ServletContextHandler();
        BackfillServlet servlet = new BackfillServlet(operations, authenticator, TestHost::arrivedWhole);
        context.addServlet(new ServletHolder(servlet), "/admin/backfills/*");
        context.setErrorHandler(new ProblemErrorHandler());
        server.setErrorHandler(new ProblemErrorHandler());
        server.setHandler(context);
        // endregion
        context.addFilter(new FilterHolder(dropping()), "/*", EnumSet.of(DispatcherType.REQUEST));
        server.start();
    }

    // region arrived-whole
    /** Jetty takes a last chunk without its end for whole; but then it has seen the end of the client's stream before that of the body. */
    static boolean arrivedWhole(HttpServletRequest request) {
        return !ServletContextRequest.getServletContextRequest(request)
                .getConnectionMetaData()
                .getConnection()
                .getEndPoint()
                .isInputShutdown();
    }
    // endregion

    int port() {
        return connector.getLocalPort();
    }

    URI api() {
        return URI.create("http://127.0.0.1:" + port() + "/admin/backfills");
    }

    /** The next answers to controls get lost after what they answer was done. */
    void dropAnswers(int count) {
        answersToDrop.set(count);
    }

    @Override
    public void close() {
        try {
            server.stop();
        } catch (Exception e) {
            throw new IllegalStateException("The test host did not stop.", e);
        }
    }

    private Filter dropping() {
        return (request, response, chain) -> {
            var http = ServletContextRequest.getServletContextRequest(request);
            if (!http.getMethod().equals("GET") && answersToDrop.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
                chain.doFilter(request, new Unheard((jakarta.servlet.http.HttpServletResponse) response));
                http.getConnectionMetaData().getConnection().getEndPoint().close();
            } else {
                chain.doFilter(request, response);
            }
        };
    }

    /** Swallows what is written to it. */
    private static final class Unheard extends jakarta.servlet.http.HttpServletResponseWrapper {
        Unheard(jakarta.servlet.http.HttpServletResponse response) {
            super(response);
        }

        @Override
        public jakarta.servlet.ServletOutputStream getOutputStream() {
            return new jakarta.servlet.ServletOutputStream() {
                @Override
                public void write(int b) {}

                @Override
                public boolean isReady() {
                    return true;
                }

                @Override
                public void setWriteListener(jakarta.servlet.WriteListener listener) {}
            };
        }
    }
}
