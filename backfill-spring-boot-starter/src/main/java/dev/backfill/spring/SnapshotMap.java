package dev.backfill.spring;

import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillSnapshot;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the Actuator endpoint says of a backfill: plain values, so that either Jackson writes the same. */
final class SnapshotMap {

    private SnapshotMap() {}

    static Map<String, Object> of(BackfillSnapshot row) {
        Map<String, Object> json = new LinkedHashMap<>();
        json.put("id", row.id().value());
        json.put("description", row.description());
        json.put("state", row.state().wireName());
        json.put("known_here", row.knownHere());
        json.put("required", row.required());
        json.put("rows_scanned", Long.toString(row.progress().rowsScanned()));
        json.put("rows_changed", Long.toString(row.progress().rowsChanged()));
        put(json, "fraction", row.progress().fraction());
        put(json, "owner", row.claim().owner());
        json.put("generation", Long.toString(row.claim().generation()));
        put(json, "waiting", row.waiting() == null ? null : row.waiting().detail());
        put(
                json,
                "diagnostic",
                row.diagnostic() == null ? null : row.diagnostic().message());
        json.put("actions", row.actions().stream().map(BackfillAction::wireName).toList());
        return json;
    }

    private static void put(Map<String, Object> json, String name, @Nullable Object value) {
        if (value != null) {
            json.put(name, value);
        }
    }
}
