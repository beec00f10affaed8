package dev.backfill.postgres.internal.events;

import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.spi.BackfillEvent;
import dev.backfill.spi.BackfillListener;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Where everything that happens is told: to the log at once, to each listener on a thread of its own. A condition that is found again
 * at every poll is told once, until it changes. Never blocks, never throws, changes no outcome. Thread-safe.
 */
public final class Events implements AutoCloseable {

    private static final long PATIENCE = TimeUnit.SECONDS.toNanos(1);

    private final List<ListenerThread> listeners;
    private final EventDeduplicator deduplicator = new EventDeduplicator();
    private final EventLog log = new EventLog();

    /** Starts a thread for each listener. */
    public Events(List<BackfillListener> listeners, String processName) {
        this.listeners = listeners.stream()
                .map(listener -> ListenerThread.start(listener, processName))
                .toList();
    }

    /** Reports an event. */
    public void publish(BackfillEvent event) {
        publish(event, "", null);
    }

    /**
     * Reports an event.
     *
     * @param detail what only the log is told
     * @param value of the detail; null for none
     */
    public void publish(BackfillEvent event, String detail, @Nullable String value) {
        if (!deduplicator.isNew(event)) {
            return;
        }
        log.write(event, detail, value);
        listeners.forEach(listener -> listener.offer(event));
    }

    /** Reports what happened to a claim. */
    public void publish(BackfillEvent.Kind kind, Claim claim, @Nullable String code) {
        publish(about(kind, claim, code));
    }

    /** What happened to a claim, not yet reported. */
    public static BackfillEvent about(BackfillEvent.Kind kind, Claim claim, @Nullable String code) {
        return BackfillEvent.of(kind, claim.id(), claim.generation(), code).by(claim.owner());
    }

    /** Lets the listeners have what is queued, for up to a second altogether, and ends their threads. */
    @Override
    public void close() {
        long deadline = System.nanoTime() + PATIENCE;
        listeners.forEach(ListenerThread::finish);
        listeners.forEach(listener -> listener.end(deadline));
    }
}
