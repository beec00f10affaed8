package dev.backfill.benchmarks;

import dev.backfill.BackfillId;
import dev.backfill.benchmarks.lab.Patience;
import dev.backfill.spi.BackfillEvent;
import dev.backfill.spi.BackfillListener;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;

/** When an engine told of what. */
final class EventTimes implements BackfillListener {

    private record Told(BackfillEvent event, long at) {}

    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final Queue<Told> told = new ConcurrentLinkedQueue<>();

    @Override
    public void on(BackfillEvent event) {
        told.add(new Told(event, System.nanoTime()));
    }

    /** The instant of the first event of a kind about a backfill after an instant; waits for it. */
    long first(BackfillEvent.Kind kind, BackfillId id, long after) throws Exception {
        Patience.until(kind + " of " + id, PATIENCE, () -> find(kind, id, after) != 0);
        return find(kind, id, after);
    }

    private long find(BackfillEvent.Kind kind, BackfillId id, long after) {
        for (Told one : told) {
            if (one.event().kind() == kind && id.equals(one.event().id()) && one.at() >= after) {
                return one.at();
            }
        }
        return 0;
    }
}
