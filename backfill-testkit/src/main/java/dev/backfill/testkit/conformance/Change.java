package dev.backfill.testkit.conformance;

import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A row that differs between two snapshots.
 *
 * @param table its table
 * @param row what names it
 * @param before its content, null when it was not there
 * @param after its content, null when it is gone
 */
record Change(
        DataTable table,
        String row,
        @Nullable String before,
        @Nullable String after) {

    private static final int SHOWN = 5;
    private static final int WIDTH = 160;

    boolean isInsert() {
        return before == null;
    }

    boolean isDelete() {
        return after == null;
    }

    /** A few of them, for a failure message; the data is the test's own. */
    static String describe(List<Change> changes) {
        String shown =
                changes.stream().limit(SHOWN).map(Change::toString).collect(Collectors.joining("\n  ", "\n  ", ""));
        return changes.size()
                + (changes.size() == 1 ? " row:" : " rows:")
                + shown
                + (changes.size() > SHOWN ? "\n  …" : "");
    }

    @Override
    public String toString() {
        return table + " " + row + ": " + shorten(before) + " -> " + shorten(after);
    }

    private static String shorten(@Nullable String content) {
        if (content == null) {
            return "(no row)";
        }
        return content.length() <= WIDTH ? content : content.substring(0, WIDTH) + "…";
    }
}
