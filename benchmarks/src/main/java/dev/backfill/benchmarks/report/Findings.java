package dev.backfill.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What one section found.
 *
 * @param name the section, as {@code -Dbenchmark=} names it
 * @param conditions where and at which size it was measured
 * @param sheets the tables
 * @param goals what was hoped for
 * @param notes what a reader must know to judge the figures
 * @param chart a picture, or null
 * @since 0.1
 */
public record Findings(
        String name,
        String conditions,
        List<Sheet> sheets,
        List<Goal> goals,
        List<String> notes,
        @Nullable Chart chart) {

    /** Nothing found yet. */
    public static Findings of(String name) {
        return new Findings(name, "", new ArrayList<>(), new ArrayList<>(), new ArrayList<>(), null);
    }

    /** The same under these conditions. */
    public Findings under(String where) {
        return new Findings(name, where, sheets, goals, notes, chart);
    }

    /** The same with a picture. */
    public Findings with(Chart picture) {
        return new Findings(name, conditions, sheets, goals, notes, picture);
    }

    /** Adds a table, and hands it out to be filled. */
    public Sheet sheet(String title, String... columns) {
        Sheet sheet = Sheet.of(title, columns);
        sheets.add(sheet);
        return sheet;
    }

    /** As Markdown, to stand between two marks. */
    public List<String> markdown() {
        List<String> lines = new ArrayList<>();
        lines.add("");
        lines.add("Measured: " + conditions);
        if (chart != null) {
            lines.add("");
            lines.add("![" + chart.title() + "](images/performance-" + name + ".svg)");
        }
        for (Sheet sheet : sheets) {
            lines.add("");
            lines.add("**" + sheet.title() + "**");
            lines.add("");
            lines.addAll(sheet.markdown());
        }
        list(lines, goals.stream().map(Goal::line).toList());
        list(lines, notes);
        lines.add("");
        return lines;
    }

    private static void list(List<String> lines, List<String> items) {
        if (!items.isEmpty()) {
            lines.add("");
            items.forEach(item -> lines.add("- " + item));
        }
    }

    /** As plain text. */
    public List<String> plain() {
        List<String> lines = new ArrayList<>();
        lines.add("== " + name + ": " + conditions);
        for (Sheet sheet : sheets) {
            lines.add("");
            lines.add(sheet.title());
            sheet.plain().forEach(line -> lines.add("  " + line));
        }
        lines.add("");
        goals.forEach(goal -> lines.add("  * " + goal.line()));
        notes.forEach(note -> lines.add("  - " + note));
        return lines;
    }
}
