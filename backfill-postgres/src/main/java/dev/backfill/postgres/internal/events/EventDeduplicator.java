package dev.backfill.postgres.internal.events;

import dev.backfill.BackfillId;
import dev.backfill.spi.BackfillEvent;
import dev.backfill.spi.BackfillEvent.Kind;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Tells a condition that lasts from one that is new: an unknown ID or a missing column is found again at every poll, and worth a word
 * once. A hint only: forgotten with the process, and beyond some thousands. Thread-safe.
 */
public final class EventDeduplicator {

    private static final int MOST = 4_096;

    private final Map<Key, String> current = new LinkedHashMap<>() {
        private static final long serialVersionUID = 1L;

        @Override
        protected boolean removeEldestEntry(Map.Entry<Key, String> eldest) {
            return size() > MOST;
        }
    };

    private record Key(
            Kind kind, @Nullable BackfillId id, @Nullable String code) {}

    /** Whether an event is to be told. */
    synchronized boolean isNew(BackfillEvent event) {
        switch (event.kind()) {
            case UNKNOWN_HERE, SCHEMA_INCOMPATIBLE, BARRIER_WAIT -> {
                return changes(new Key(event.kind(), event.id(), null), event);
            }
            // By its code too, or two signals that take turns would be told at every batch.
            case THROTTLED -> {
                return changes(new Key(event.kind(), event.id(), event.code()), event);
            }
            case CLAIMED, TAKEN_OVER -> forget(event, Kind.UNKNOWN_HERE, Kind.SCHEMA_INCOMPATIBLE);
            case RELEASED, FENCED, STOPPED, RETRY_SCHEDULED, BLOCKED, FAILED, COMPLETED ->
                forget(event, Kind.THROTTLED, Kind.BARRIER_WAIT);
            default -> {
                return true;
            }
        }
        return true;
    }

    private boolean changes(Key key, BackfillEvent event) {
        String now = event.generation() + " " + event.code();
        return !now.equals(current.put(key, now));
    }

    private void forget(BackfillEvent event, Kind one, Kind other) {
        if (!current.isEmpty() && event.id() != null) {
            current.keySet().removeIf(key -> event.id().equals(key.id()) && (key.kind() == one || key.kind() == other));
        }
    }
}
