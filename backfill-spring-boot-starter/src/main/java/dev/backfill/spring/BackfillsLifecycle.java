package dev.backfill.spring;

import dev.backfill.host.Backfills;
import org.springframework.context.SmartLifecycle;

/**
 * Closes the engine when the application stops: after the web server, whose phase is higher, and before any pool, which is closed with the
 * other beans. The engine itself starts as a bean, so that a web server that starts finds its readiness.
 */
final class BackfillsLifecycle implements SmartLifecycle {

    /** Below those of the web server ({@code DEFAULT_PHASE - 1024} and {@code - 2048}). */
    static final int PHASE = DEFAULT_PHASE - 4096;

    private final Backfills backfills;
    private volatile boolean running;

    BackfillsLifecycle(Backfills backfills) {
        this.backfills = backfills;
    }

    @Override
    public void start() {
        running = true;
    }

    @Override
    public void stop() {
        running = false;
        backfills.close();
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }

    /** Spring 7 asks; a closed engine does not start again, so a test context that rests keeps it. */
    public boolean isPauseable() {
        return false;
    }
}
