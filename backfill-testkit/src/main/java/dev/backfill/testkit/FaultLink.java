package dev.backfill.testkit;

import dev.backfill.testkit.FaultProxy.LostAnswer;
import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** One client's connection through a {@link FaultProxy}: per direction a reader and a writer, so that delayed data can queue up. */
final class FaultLink {

    private static final Logger LOG = LoggerFactory.getLogger(FaultLink.class);
    private static final int BUFFER = 64 * 1024;
    private static final int QUEUE = 1_000;

    private final FaultProxy proxy;
    private final Socket client;
    private final Socket server;
    private final BlockingQueue<Chunk> upward = new LinkedBlockingQueue<>(QUEUE);
    private final BlockingQueue<Chunk> downward = new LinkedBlockingQueue<>(QUEUE);
    private volatile @Nullable LostAnswer losing;
    private volatile boolean closed;

    /** What was read at once, and when it may be passed on; without bytes, the end. */
    private static final class Chunk {
        private final byte[] bytes;
        private final long due;

        Chunk(byte[] bytes, long due) {
            this.bytes = bytes;
            this.due = due;
        }

        static Chunk end() {
            return new Chunk(new byte[0], 0);
        }

        boolean isEnd() {
            return bytes.length == 0;
        }
    }

    FaultLink(FaultProxy proxy, Socket client, Socket server) throws IOException {
        this.proxy = proxy;
        this.client = client;
        this.server = server;
        client.setTcpNoDelay(true);
        server.setTcpNoDelay(true);
    }

    void start(String name) {
        start(name + "-up-read", () -> read(client.getInputStream(), upward, true));
        start(name + "-up-write", () -> write(upward, server.getOutputStream()));
        start(name + "-down-read", () -> read(server.getInputStream(), downward, false));
        start(name + "-down-write", () -> write(downward, client.getOutputStream()));
    }

    private interface Pump {
        void run() throws IOException, InterruptedException;
    }

    private void start(String name, Pump pump) {
        Thread thread = new Thread(
                () -> {
                    try {
                        pump.run();
                    } catch (IOException e) {
                        LOG.debug("{} ended.", name, e);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                    } finally {
                        close();
                    }
                },
                name);
        thread.setDaemon(true);
        thread.start();
    }

    private void read(InputStream from, BlockingQueue<Chunk> queue, boolean up)
            throws IOException, InterruptedException {
        byte[] buffer = new byte[BUFFER];
        byte[] tail = new byte[0];
        for (int count = from.read(buffer); count >= 0 && !closed; count = from.read(buffer)) {
            byte[] bytes = Arrays.copyOf(buffer, count);
            if (up) {
                tail = watch(tail, bytes);
            } else if (loses()) {
                return;
            }
            queue.put(new Chunk(bytes, System.nanoTime() + proxy.delayNanos()));
        }
        queue.put(Chunk.end());
        awaitDrained(queue);
    }

    // The end of one side must not overtake what it sent: closing resets the link.
    private void awaitDrained(BlockingQueue<Chunk> queue) {
        while (!queue.isEmpty() && !closed) {
            LockSupport.parkNanos(1_000_000);
        }
    }

    private boolean loses() {
        LostAnswer answer = losing;
        if (answer == null) {
            return false;
        }
        proxy.forgetLost(answer);
        // The server has acted and answered. Reset first: whoever awaits this may look at the client at once.
        close();
        answer.reached().hold();
        return true;
    }

    /** Looks for the text in what a client sends, across the seam of two reads. */
    private byte[] watch(byte[] tail, byte[] bytes) {
        LostAnswer answer = proxy.lost();
        if (answer == null) {
            return new byte[0];
        }
        byte[] text = answer.text().getBytes(StandardCharsets.UTF_8);
        byte[] all = new byte[tail.length + bytes.length];
        System.arraycopy(tail, 0, all, 0, tail.length);
        System.arraycopy(bytes, 0, all, tail.length, bytes.length);
        int at = indexOf(all, text, 0);
        while (at >= 0) {
            if (answer.seen().getAndIncrement() == answer.skip()) {
                losing = answer;
            }
            at = indexOf(all, text, at + text.length);
        }
        int keep = Math.min(text.length - 1, all.length);
        return Arrays.copyOfRange(all, all.length - keep, all.length);
    }

    private static int indexOf(byte[] all, byte[] text, int from) {
        for (int i = from; i <= all.length - text.length; i++) {
            if (Arrays.equals(all, i, i + text.length, text, 0, text.length)) {
                return i;
            }
        }
        return -1;
    }

    private void write(BlockingQueue<Chunk> queue, OutputStream to) throws IOException, InterruptedException {
        for (Chunk chunk = queue.take(); !chunk.isEnd() && !closed; chunk = queue.take()) {
            for (long left = chunk.due - System.nanoTime(); left > 0 && !closed; left = chunk.due - System.nanoTime()) {
                LockSupport.parkNanos(left);
            }
            while (proxy.isStalled() && !closed) {
                LockSupport.parkNanos(1_000_000);
            }
            to.write(chunk.bytes);
            to.flush();
        }
    }

    /** Resets both sides, and ends whoever waits for what can't come any more. */
    void close() {
        closed = true;
        proxy.forget(this);
        reset(client);
        reset(server);
        end(upward);
        end(downward);
    }

    /** Makes room for a reader that waits for it, and gives a writer that waits the end. */
    private static void end(BlockingQueue<Chunk> queue) {
        queue.clear();
        queue.offer(Chunk.end());
    }

    private static void reset(Socket socket) {
        try {
            socket.setSoLinger(true, 0);
            socket.close();
        } catch (IOException e) {
            LOG.debug("A socket could not be reset.", e);
        }
    }
}
