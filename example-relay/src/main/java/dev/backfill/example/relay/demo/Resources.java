package dev.backfill.example.relay.demo;

import java.util.ArrayDeque;
import java.util.Deque;

/** What the demo started, ended in the opposite order, whichever way the demo ends. Thread-safe. */
final class Resources implements AutoCloseable {

    private final Deque<AutoCloseable> open = new ArrayDeque<>();

    synchronized <R extends AutoCloseable> R add(R resource) {
        open.push(resource);
        return resource;
    }

    @Override
    public synchronized void close() {
        while (!open.isEmpty()) {
            try {
                open.pop().close();
            } catch (Exception e) {
                System.err.println("demo: an end went wrong: " + e.getMessage());
            }
        }
    }
}
