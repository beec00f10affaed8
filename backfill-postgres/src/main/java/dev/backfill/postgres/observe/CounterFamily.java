package dev.backfill.postgres.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.Collection;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Counters of one name that differ in one label, all made at once: nothing that happens later can add a series, and a rate is right
 * from the first occurrence on. Immutable, thread-safe.
 */
final class CounterFamily {

    /** Where a value goes that is not in the vocabulary. */
    static final String OTHER = "other";

    private final Map<String, Counter> counters = new LinkedHashMap<>();

    CounterFamily(MeterRegistry registry, String name, String description, String label, Collection<String> values) {
        for (String value : values) {
            counters.put(value, counter(registry, name, description, label, value));
        }
        counters.computeIfAbsent(OTHER, other -> counter(registry, name, description, label, other));
    }

    private static Counter counter(
            MeterRegistry registry, String name, String description, String label, String value) {
        return Counter.builder(name).description(description).tag(label, value).register(registry);
    }

    void count(@Nullable String value) {
        Counter counter = counters.get(value == null ? OTHER : value);
        if (counter == null) {
            counter = counters.get(OTHER);
        }
        if (counter != null) {
            counter.increment();
        }
    }
}
