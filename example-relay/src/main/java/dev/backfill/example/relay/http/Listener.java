package dev.backfill.example.relay.http;

import jakarta.servlet.http.HttpServletRequest;
import java.io.IOException;
import org.eclipse.jetty.ee10.servlet.ServletContextRequest;
import org.eclipse.jetty.http.HttpCompliance;
import org.eclipse.jetty.server.Handler;
import org.eclipse.jetty.server.HttpConfiguration;
import org.eclipse.jetty.server.HttpConnectionFactory;
import org.eclipse.jetty.server.Server;
import org.eclipse.jetty.server.ServerConnector;
import org.eclipse.jetty.util.thread.QueuedThreadPool;

/** One port with threads of its own, so that a busy relay never starves its operators. Thread-safe. */
public final class Listener implements AutoCloseable {

    private static final int THREADS = 16;
    private static final int STOP_MILLIS = 500;

    /** How long a client may be silent while it sends a request or reads an answer. */
    private static final int IDLE_MILLIS = 10_000;

    private final Server server;
    private final int port;

    private Listener(Server server, int port) {
        this.server = server;
        this.port = port;
    }

    /**
     * Opens a port.
     *
     * @param name of the threads
     * @param port 0 for any free one
     * @throws IOException if the port can't be had; names it
     */
    public static Listener open(String name, int port, Handler handler) throws IOException {
        QueuedThreadPool threads = new QueuedThreadPool(THREADS, 4);
        threads.setName("relay-" + name);
        Server server = new Server(threads);
        HttpConfiguration http = new HttpConfiguration();
        http.setSendServerVersion(false);
        http.setHttpCompliance(HttpCompliance.RFC9110);
        ServerConnector connector = new ServerConnector(server, 1, 1, new HttpConnectionFactory(http));
        connector.setPort(port);
        connector.setIdleTimeout(IDLE_MILLIS);
        server.addConnector(connector);
        server.setHandler(handler);
        server.setErrorHandler(Administration.errors());
        server.setStopTimeout(STOP_MILLIS);
        start(server, name, port);
        return new Listener(server, connector.getLocalPort());
    }

    // Jetty's start declares Exception.
    private static void start(Server server, String name, int port) throws IOException {
        try {
            server.start();
        } catch (Exception e) {
            stop(server);
            throw new IOException(
                    "The " + name + " port " + port + " can't be opened: choose another one, or 0 for any.", e);
        }
    }

    private static void stop(Server server) {
        try {
            server.stop();
        } catch (Exception e) {
            Thread.currentThread().interrupt();
        }
    }

    // region arrived-whole
    /** Jetty takes a last chunk without its end for whole; but then it has seen the end of the client's stream before that of the body. */
    public static boolean arrivedWhole(HttpServletRequest request) {
        return !ServletContextRequest.getServletContextRequest(request)
                .getConnectionMetaData()
                .getConnection()
                .getEndPoint()
                .isInputShutdown();
    }
    // endregion

    /** Where it listens. */
    public int port() {
        return port;
    }

    /** Ends its requests and threads. */
    @Override
    public void close() {
        stop(server);
    }
}
