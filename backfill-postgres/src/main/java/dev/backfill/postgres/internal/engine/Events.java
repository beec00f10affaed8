package dev.backfill.postgres.internal.engine;

import dev.backfill.BackfillEvent;
import dev.backfill.BackfillListener;
import java.util.List;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.slf4j.event.Level;
import org.slf4j.spi.LoggingEventBuilder;

/**
 * Logs each event and hands it to the listeners, on one thread of its own: a listener that throws is reported, one that hangs loses
 * events, and neither changes an outcome. Thread-safe.
 */
public final class Events implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");
    private static final int QUEUE = 10_000;

    private final List<BackfillListener> listeners;
    private final BlockingQueue<BackfillEvent> queue = new ArrayBlockingQueue<>(QUEUE);
    private final AtomicLong lost = new AtomicLong();
    private final @Nullable Thread thread;
    private volatile boolean closed;

    /** Starts the thread, if anybody listens. */
    public Events(List<BackfillListener> listeners, String processName) {
        this.listeners = List.copyOf(listeners);
        if (listeners.isEmpty()) {
            thread = null;
        } else {
            thread = new Thread(this::deliver, "backfill-events-" + processName);
            thread.setDaemon(true);
            thread.start();
        }
    }

    /** Reports an event; never blocks, never throws. */
    public void publish(BackfillEvent event) {
        log(event);
        if (thread != null && !queue.offer(event) && lost.incrementAndGet() % 1_000 == 1) {
            LOG.atWarn()
                    .addKeyValue("lost", lost.get())
                    .log("Backfill listeners are too slow; events are lost, work goes on");
        }
    }

    private void deliver() {
        while (!closed || !queue.isEmpty()) {
            try {
                BackfillEvent event = queue.poll(100, java.util.concurrent.TimeUnit.MILLISECONDS);
                if (event != null) {
                    listeners.forEach(listener -> tell(listener, event));
                }
            } catch (InterruptedException e) {
                // Only close() interrupts: what a hanging listener has not taken by then is lost.
                return;
            }
        }
    }

    private static void tell(BackfillListener listener, BackfillEvent event) {
        try {
            listener.on(event);
        } catch (RuntimeException | LinkageError | AssertionError e) {
            LOG.atWarn()
                    .setCause(e)
                    .addKeyValue("event", event.kind().wireName())
                    .log("A backfill listener failed; the outcome stands");
        }
    }

    private static void log(BackfillEvent event) {
        LoggingEventBuilder line = LOG.atLevel(level(event.kind()))
                .addKeyValue("event", event.kind().wireName());
        if (event.id() != null) {
            line = line.addKeyValue("backfill", event.id()).addKeyValue("generation", event.generation());
        }
        if (event.code() != null) {
            line = line.addKeyValue("code", event.code());
        }
        if (event.took() != null) {
            line = line.addKeyValue("took_ms", event.took().toMillis());
        }
        if (event.kind() == BackfillEvent.Kind.BATCH_COMMITTED) {
            line = line.addKeyValue("scanned", event.rowsScanned()).addKeyValue("changed", event.rowsChanged());
        }
        line.log("Backfill {}", event.kind().wireName().replace('_', ' '));
    }

    private static Level level(BackfillEvent.Kind kind) {
        return switch (kind) {
            case BATCH_ATTEMPTED, BATCH_COMMITTED, RENEWED, THROTTLED, BARRIER_WAIT, UNKNOWN_HERE, DIAGNOSTICS_READ ->
                Level.DEBUG;
            case FENCED,
                    BLOCKED,
                    FAILED,
                    TAKEN_OVER,
                    SCHEMA_INCOMPATIBLE,
                    COMMIT_SETTLED,
                    RETRY_SCHEDULED,
                    ACCESS_DENIED -> Level.WARN;
            case CLAIMED, RELEASED, STOPPED, VALIDATING, VALIDATED, COMPLETED, OPERATOR_ACTION -> Level.INFO;
        };
    }

    /** Lets the listeners have what is queued, for up to a second, and ends the thread. */
    @Override
    public void close() {
        closed = true;
        Thread running = thread;
        if (running == null || running == Thread.currentThread()) {
            return;
        }
        try {
            running.join(1_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
        running.interrupt();
    }
}
