package dev.backfill.example.relay.demo;

import java.util.ArrayDeque;
import java.util.Deque;

/** What the demo started, ended in the opposite order, whichever way the demo ends. Thread-safe. */
final class Resources implements AutoCloseable {

    private final Deque<AutoCloseable> open = new ArrayDeque<>();
    private boolean closed;

    synchronized <R extends AutoCloseable> R add(R resource) throws Exception {
        if (closed) {
            resource.close();
            throw new DemoFailure("The demo was ended.");
        }
        open.push(resource);
        return resource;
    }

    /** Whether somebody has ended the demo; what fails after that is no news. */
    synchronized boolean isClosed() {
        return closed;
    }

    @Override
    public synchronized void close() {
        closed = true;
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (Exception e) {
                System.err.println("demo: an end went wrong: " + e.getMessage());
            }
        }
    }
}
