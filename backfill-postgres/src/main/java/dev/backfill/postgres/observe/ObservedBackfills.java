package dev.backfill.postgres.observe;

import dev.backfill.host.Backfills;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.spi.BackfillEvent;
import dev.backfill.spi.BackfillListener;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationRegistry;
import java.util.HashMap;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Spans through Micrometer Observation, and so through OpenTelemetry: {@code backfill.batch} and {@code backfill.validation} for the
 * engine's work, {@code backfill.action} for starts and other controls. Off unless the host gives this to
 * {@link Backfills.Builder#listener}, and wraps the operator plane with {@link #observing}.
 *
 * <p>Spans carry the ID, owner, generation, counts and codes from fixed vocabularies; never row data, keys, SQL or messages (AU-5).
 * They are made from events, on the listener's thread: begun and ended as the events arrive, with no parent and no scope in the
 * definition's code. Thread-safe.
 *
 * @since 0.1
 */
public final class ObservedBackfills implements BackfillListener {

    private static final String NONE = "none";

    private final ObservationRegistry registry;
    // A worker does one thing at a time, so this holds at most as many as there are workers.
    private final Map<String, Observation> open = new HashMap<>();

    private ObservedBackfills(ObservationRegistry registry) {
        this.registry = registry;
    }

    /** Spans in a registry. */
    public static ObservedBackfills in(ObservationRegistry registry) {
        return new ObservedBackfills(registry);
    }

    /** The operator plane with a span for each control, in the caller's trace. */
    public BackfillOperations observing(BackfillOperations operations) {
        return ObservedOperations.around(operations, registry);
    }

    @Override
    public synchronized void on(BackfillEvent event) {
        switch (event.kind()) {
            case BATCH_ATTEMPTED -> begin("backfill.batch", event);
            case VALIDATION_ATTEMPTED -> begin("backfill.validation", event);
            // A claim, or its end, while something is open: its outcome could not be recorded, so nobody knows it here.
            case CLAIMED, TAKEN_OVER, RELEASED -> end(event, "unknown", null);
            case BATCH_COMMITTED, FENCED, STOPPED, RETRY_SCHEDULED, NARROWED, BLOCKED, FAILED ->
                end(event, event.kind().wireName(), event.code());
            case VALIDATED -> {
                if (event.requestId() == null) {
                    end(event, "validated", event.code());
                }
            }
            case OPERATOR_ACTION -> automaticStart(event);
            default -> {
                // No span of its own.
            }
        }
    }

    private void begin(String name, BackfillEvent event) {
        end(event, "unknown", null);
        Observation observation = Observation.createNotStarted(name, registry)
                .lowCardinalityKeyValue("outcome", "unknown")
                .lowCardinalityKeyValue("code", NONE)
                .highCardinalityKeyValue("backfill.id", String.valueOf(event.id()))
                .highCardinalityKeyValue("backfill.generation", Long.toString(event.generation()))
                .highCardinalityKeyValue("backfill.owner", owner(event));
        open.put(owner(event), observation.start());
    }

    private void end(BackfillEvent event, String outcome, @Nullable String code) {
        Observation observation = open.remove(owner(event));
        if (observation == null) {
            return;
        }
        observation
                .lowCardinalityKeyValue("outcome", outcome)
                .lowCardinalityKeyValue("code", Objects.requireNonNullElse(code, NONE));
        if (event.kind() == BackfillEvent.Kind.BATCH_COMMITTED) {
            observation
                    .highCardinalityKeyValue("backfill.rows.scanned", Long.toString(event.rowsScanned()))
                    .highCardinalityKeyValue("backfill.rows.changed", Long.toString(event.rowsChanged()));
        }
        observation.stop();
    }

    /** Nobody calls the operator plane for it, so it is told after the fact. */
    private void automaticStart(BackfillEvent event) {
        String code = String.valueOf(event.code());
        if ("startup".equals(event.who()) && code.startsWith("start.")) {
            ObservedOperations.action(registry, "start", String.valueOf(event.id()))
                    .start()
                    .lowCardinalityKeyValue("outcome", code.substring("start.".length()))
                    .stop();
        }
    }

    private static String owner(BackfillEvent event) {
        return Objects.requireNonNullElse(event.who(), "");
    }
}
