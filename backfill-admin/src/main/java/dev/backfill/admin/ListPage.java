package dev.backfill.admin;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillState;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** One page of a list: filtered, counted, families in one line where that is asked for. By ID, because an ID never changes. */
final class ListPage {

    private ListPage() {}

    /**
     * Adds a page to an answer: the lines, and after which ID the next page begins.
     *
     * @param name the member that holds the lines
     * @return how many lines there are on all pages, by state and whatever state was asked for
     */
    static Map<BackfillState, Integer> put(ObjectNode json, String name, List<BackfillSnapshot> all, ListQuery query) {
        Map<BackfillState, Integer> counts = new EnumMap<>(BackfillState.class);
        ArrayNode page = json.putArray(name);
        String last = null;
        boolean more = false;
        for (Map.Entry<String, List<BackfillSnapshot>> line : lines(all, query).entrySet()) {
            BackfillState state = FamilySum.state(line.getValue());
            counts.merge(state, 1, Integer::sum);
            if ((!query.states().isEmpty() && !query.states().contains(state))
                    || line.getKey().compareTo(query.after()) <= 0) {
                continue;
            }
            more = page.size() == query.limit();
            if (!more) {
                last = line.getKey();
                page.add(json(last, line.getValue()));
            }
        }
        json.put("next_after", more ? last : null);
        return counts;
    }

    private static ObjectNode json(String line, List<BackfillSnapshot> rows) {
        BackfillSnapshot first = rows.get(0);
        return first.id().value().equals(line) ? SnapshotJson.of(first) : FamilySum.of(line, rows);
    }

    /** The lines on which any row is asked for. A family's line holds all of its parts, or its sum would not be one. */
    private static Map<String, List<BackfillSnapshot>> lines(List<BackfillSnapshot> all, ListQuery query) {
        Map<String, List<BackfillSnapshot>> lines = new TreeMap<>();
        for (BackfillSnapshot row : all) {
            lines.computeIfAbsent(query.line(row), line -> new ArrayList<>()).add(row);
        }
        lines.values().removeIf(rows -> rows.stream().noneMatch(query::matches));
        return lines;
    }
}
