package dev.backfill.example.relay;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A network between a client and a relay that can lose answers: the relay did what it was asked, has committed and answered, and
 * the client never hears of it. Loopback only.
 */
final class LossyProxy implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(LossyProxy.class);

    private final ServerSocket server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
    private final int target;
    private final AtomicInteger toLose = new AtomicInteger();
    private final AtomicInteger lost = new AtomicInteger();

    LossyProxy(int target) throws IOException {
        this.target = target;
        daemon(this::accept);
    }

    int port() {
        return server.getLocalPort();
    }

    /** Loses the answers to the next controls. */
    void loseAnswers(int count) {
        toLose.set(count);
    }

    int lost() {
        return lost.get();
    }

    private void accept() {
        try {
            while (!server.isClosed()) {
                Socket client = server.accept();
                Socket relay = new Socket(InetAddress.getLoopbackAddress(), target);
                AtomicBoolean losing = new AtomicBoolean();
                daemon(() -> pumpRequests(client, relay, losing));
                daemon(() -> pumpAnswers(relay, client, losing));
            }
        } catch (IOException e) {
            LOG.debug("The proxy stopped: {}", e.getMessage());
        }
    }

    private void pumpRequests(Socket client, Socket relay, AtomicBoolean losing) {
        pump(client, relay, (bytes, length) -> {
            // A client of HTTP/1.1 waits for one answer before it asks again, so a read begins with a request.
            boolean control = new String(bytes, 0, Math.min(length, 5), StandardCharsets.ISO_8859_1).equals("POST ");
            if (control && toLose.getAndUpdate(n -> Math.max(0, n - 1)) > 0) {
                losing.set(true);
            }
            return true;
        });
    }

    private void pumpAnswers(Socket relay, Socket client, AtomicBoolean losing) {
        pump(relay, client, (bytes, length) -> {
            if (losing.get()) {
                lost.incrementAndGet();
            }
            return !losing.get();
        });
    }

    private static void pump(Socket from, Socket to, Gate gate) {
        try (from;
                to) {
            InputStream in = from.getInputStream();
            OutputStream out = to.getOutputStream();
            byte[] bytes = new byte[64 * 1024];
            for (int length = in.read(bytes); length >= 0; length = in.read(bytes)) {
                if (!gate.passes(bytes, length)) {
                    return;
                }
                out.write(bytes, 0, length);
                out.flush();
            }
        } catch (IOException e) {
            LOG.trace("A connection ended: {}", e.getMessage());
        }
    }

    @Override
    public void close() throws IOException {
        server.close();
    }

    private static void daemon(Runnable work) {
        Thread thread = new Thread(work, "lossy-proxy");
        thread.setDaemon(true);
        thread.start();
    }

    @FunctionalInterface
    private interface Gate {
        boolean passes(byte[] bytes, int length);
    }
}
