package dev.backfill.spring;

import dev.backfill.host.Readiness;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * Readiness in the words of a health indicator.
 *
 * @param status {@code UP}, or {@code OUT_OF_SERVICE} while an input is closed, or {@code DOWN} while one can't be told
 * @param details each input with its reason
 */
record ReadinessHealth(String status, Map<String, Object> details) {

    static ReadinessHealth of(Readiness readiness) {
        Map<String, Readiness.Input> inputs = new LinkedHashMap<>();
        inputs.put("database", readiness.database());
        inputs.put("schema", readiness.schema());
        inputs.put("backfills", readiness.backfills());
        Map<String, Object> details = new LinkedHashMap<>();
        inputs.forEach((name, input) -> details.put(name, input.reason() == null ? "open" : input.reason()));
        boolean isUnknown = inputs.values().stream().anyMatch(input -> input.status() == Readiness.Status.UNKNOWN);
        String status = readiness.isOpen() ? "UP" : isUnknown ? "DOWN" : "OUT_OF_SERVICE";
        return new ReadinessHealth(status, details);
    }
}
