package dev.backfill.postgres.observe;

import dev.backfill.spi.BackfillEvent;
import dev.backfill.spi.BackfillListener;
import dev.backfill.testkit.Eventually;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.Predicate;

/** Remembers events. They come on a thread of their own, so a test asks for one and then looks at all. */
final class Heard implements BackfillListener {

    private final List<BackfillEvent> events = new CopyOnWriteArrayList<>();

    @Override
    public void on(BackfillEvent event) {
        events.add(event);
    }

    List<BackfillEvent> all() {
        return List.copyOf(events);
    }

    List<BackfillEvent> of(BackfillEvent.Kind kind) {
        return events.stream().filter(e -> e.kind() == kind).toList();
    }

    /** Waits until as many have come. */
    List<BackfillEvent> await(BackfillEvent.Kind kind, int count) {
        Eventually.until(count + " events " + kind + " in " + events, () -> of(kind).size() >= count);
        return of(kind);
    }

    List<BackfillEvent> await(BackfillEvent.Kind kind, Predicate<BackfillEvent> which) {
        Eventually.until(
                "an event " + kind + " in " + events, () -> of(kind).stream().anyMatch(which));
        return of(kind).stream().filter(which).toList();
    }
}
