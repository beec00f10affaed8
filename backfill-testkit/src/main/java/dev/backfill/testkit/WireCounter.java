package dev.backfill.testkit;

import java.io.BufferedInputStream;
import java.io.BufferedOutputStream;
import java.io.DataInputStream;
import java.io.DataOutputStream;
import java.io.IOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicLong;

/**
 * Stands between driver and server and counts what a client waits for: Sync and simple Query. The driver's BEGIN is a simple Query,
 * too, but travels in one flush with what follows. For connections without encryption. Its threads are daemons and end with their
 * connections. Thread-safe.
 *
 * @since 0.1
 */
public final class WireCounter implements AutoCloseable {

    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final AtomicLong roundTrips = new AtomicLong();
    private final URI server;
    private final String url;

    /**
     * A counter in front of the server of a URL; the URL must ask for no encryption.
     *
     * @throws IOException if no port can be had
     */
    public WireCounter(String jdbcUrl) throws IOException {
        server = URI.create(jdbcUrl.substring("jdbc:".length()));
        url = jdbcUrl.replace(server.getHost() + ":" + server.getPort(), "127.0.0.1:" + listener.getLocalPort());
        daemon("wire-counter-accept", this::accept);
    }

    /** The URL that leads through this counter. */
    public String url() {
        return url;
    }

    /** Round trips so far. */
    public long roundTrips() {
        return roundTrips.get();
    }

    private void accept() throws IOException {
        while (!listener.isClosed()) {
            Socket client = listener.accept();
            Socket upstream = new Socket(server.getHost(), server.getPort());
            client.setTcpNoDelay(true);
            upstream.setTcpNoDelay(true);
            daemon("wire-counter-client", () -> fromClient(client, upstream));
            daemon("wire-counter-server", () -> {
                upstream.getInputStream().transferTo(client.getOutputStream());
                client.close();
            });
        }
    }

    private void fromClient(Socket client, Socket upstream) throws IOException {
        try (DataInputStream in = new DataInputStream(new BufferedInputStream(client.getInputStream(), 1 << 16));
                DataOutputStream out =
                        new DataOutputStream(new BufferedOutputStream(upstream.getOutputStream(), 1 << 16))) {
            // The first message has no type.
            copy(in, out, in.readInt());
            out.flush();
            while (true) {
                int type = in.readByte();
                out.writeByte(type);
                byte[] body = copy(in, out, in.readInt());
                if (type == 'S' || (type == 'Q' && !new String(body, StandardCharsets.US_ASCII).startsWith("BEGIN"))) {
                    roundTrips.incrementAndGet();
                }
                if (in.available() == 0) {
                    out.flush();
                }
            }
        }
    }

    private static byte[] copy(DataInputStream in, DataOutputStream out, int length) throws IOException {
        byte[] body = new byte[length - Integer.BYTES];
        in.readFully(body);
        out.writeInt(length);
        out.write(body);
        return body;
    }

    private interface Pump {
        void run() throws IOException;
    }

    private static void daemon(String name, Pump pump) {
        Thread thread = new Thread(
                () -> {
                    try {
                        pump.run();
                    } catch (IOException e) {
                        // A side has hung up, or the counter was closed: this thread's end.
                        return;
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }

    @Override
    public void close() throws IOException {
        listener.close();
    }
}
