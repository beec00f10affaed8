package dev.backfill.postgres.observe;

import io.micrometer.core.instrument.Counter;
import io.micrometer.core.instrument.MeterRegistry;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Counters of what operators do. Thread-safe. */
final class Operators {

    private final Map<String, Counter> answered = new HashMap<>();
    private final CounterFamily denied;
    private final CounterFamily read;

    Operators(MeterRegistry registry) {
        for (String action : withOther(Vocabularies.ACTIONS)) {
            for (String outcome : withOther(Vocabularies.ACTION_OUTCOMES)) {
                answered.put(
                        action + "." + outcome,
                        Counter.builder("backfill.operator.actions")
                                .description("Controls answered, by action and outcome")
                                .tag("action", action)
                                .tag("outcome", outcome)
                                .register(registry));
            }
        }
        denied = new CounterFamily(
                registry,
                "backfill.access.denied",
                "Attempts denied, by kind of authority",
                "authority",
                Vocabularies.AUTHORITIES);
        read = new CounterFamily(
                registry,
                "backfill.diagnostics.read",
                "Reads of detailed diagnostics, by what was read",
                "what",
                Vocabularies.READS);
    }

    private static List<String> withOther(List<String> vocabulary) {
        List<String> all = new ArrayList<>(vocabulary);
        all.add(CounterFamily.OTHER);
        return all;
    }

    /** Counts a control by the code of its event, {@code pause.applied}. */
    void answered(@Nullable String code) {
        String known = code == null ? "" : code;
        Counter counter = answered.get(known);
        if (counter == null) {
            int dot = known.indexOf('.');
            String action = dot > 0 && Vocabularies.ACTIONS.contains(known.substring(0, dot))
                    ? known.substring(0, dot)
                    : CounterFamily.OTHER;
            counter = answered.get(action + "." + CounterFamily.OTHER);
        }
        if (counter != null) {
            counter.increment();
        }
    }

    void denied(@Nullable String authority) {
        denied.count(authority);
    }

    void read(@Nullable String what) {
        read.count(what);
    }
}
