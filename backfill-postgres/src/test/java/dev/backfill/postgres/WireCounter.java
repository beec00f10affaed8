package dev.backfill.postgres;

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
 * Stands between driver and server and counts round trips: messages after which the client waits, which are Sync and simple Query.
 * The driver's BEGIN is a simple Query too, but it does not wait for its answer: it sends it in one flush with what follows.
 * Its threads are daemons and end with their connections.
 */
final class WireCounter implements AutoCloseable {

    private final ServerSocket listener = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final AtomicLong roundTrips = new AtomicLong();
    private final URI server;
    private final String url;

    WireCounter(String jdbcUrl) throws IOException {
        server = URI.create(jdbcUrl.substring("jdbc:".length()));
        url = jdbcUrl.replace(server.getHost() + ":" + server.getPort(), "127.0.0.1:" + listener.getLocalPort());
        daemon("wire-counter-accept", this::accept);
    }

    String jdbcUrl() {
        return url;
    }

    long roundTrips() {
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
        try (DataInputStream in = new DataInputStream(client.getInputStream());
                DataOutputStream out = new DataOutputStream(upstream.getOutputStream())) {
            // The first message has no type; the driver of these tests asks for no encryption.
            copy(in, out, in.readInt());
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
        byte[] body = in.readNBytes(length - Integer.BYTES);
        out.writeInt(length);
        out.write(body);
        return body;
    }

    private interface Work {
        void run() throws IOException;
    }

    private static void daemon(String name, Work work) {
        Thread thread = new Thread(
                () -> {
                    try {
                        work.run();
                    } catch (IOException e) {
                        // The connection or the counter was closed: this thread's end.
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
