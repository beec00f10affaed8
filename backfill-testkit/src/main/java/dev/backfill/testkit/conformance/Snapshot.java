package dev.backfill.testkit.conformance;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/**
 * The content of every table at one moment: by table, then by row.
 *
 * @param tables rows by what names them
 */
record Snapshot(Map<DataTable, TreeMap<String, String>> tables) {

    /** What differs, in the order of the rows' names. */
    List<Change> changesTo(Snapshot later) {
        List<Change> changes = new ArrayList<>();
        for (Map.Entry<DataTable, TreeMap<String, String>> table : tables.entrySet()) {
            Map<String, String> before = table.getValue();
            Map<String, String> after = Objects.requireNonNull(later.tables.get(table.getKey()));
            Set<String> rows = new TreeSet<>(before.keySet());
            rows.addAll(after.keySet());
            for (String row : rows) {
                @Nullable String old = before.get(row);
                @Nullable String now = after.get(row);
                if (!Objects.equals(old, now)) {
                    changes.add(new Change(table.getKey(), row, old, now));
                }
            }
        }
        return changes;
    }

    /** One row's content, or null. */
    @Nullable
    String content(DataTable table, String row) {
        return Objects.requireNonNull(tables.get(table)).get(row);
    }

    /** The same without a table's row, for what a test has deleted on purpose. */
    Snapshot without(DataTable table, Set<String> rows) {
        Map<DataTable, TreeMap<String, String>> copy = new java.util.LinkedHashMap<>(tables);
        TreeMap<String, String> left = new TreeMap<>(Objects.requireNonNull(tables.get(table)));
        left.keySet().removeAll(rows);
        copy.put(table, left);
        return new Snapshot(copy);
    }
}
