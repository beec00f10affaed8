package dev.backfill.benchmarks.report;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;

/**
 * One table: text in the first columns, numbers after that.
 *
 * @param title what it shows
 * @param columns the heads, units included
 * @param rows as many cells as heads, each a text or a number
 * @since 0.1
 */
public record Sheet(String title, List<String> columns, List<List<Object>> rows) {

    private static final String UNKNOWN = "–";

    /** An empty table. */
    public static Sheet of(String title, String... columns) {
        return new Sheet(title, List.of(columns), new ArrayList<>());
    }

    /** Adds a row. */
    public void add(Object... cells) {
        if (cells.length != columns.size()) {
            throw new IllegalArgumentException(
                    "table '" + title + "' has " + columns.size() + " columns, got " + cells.length + " cells");
        }
        rows.add(Arrays.stream(cells)
                .map(cell -> cell instanceof Double value && value.isNaN() ? UNKNOWN : cell)
                .toList());
    }

    /** A cell as people read it: whole numbers grouped, others to three significant digits, unknown as a dash. */
    public static String shown(Object cell) {
        if (!(cell instanceof Number number)) {
            return String.valueOf(cell);
        }
        double value = number.doubleValue();
        if (Double.isNaN(value)) {
            return UNKNOWN;
        }
        if (value == Math.rint(value) || Math.abs(value) >= 1000) {
            return String.format(Locale.ROOT, "%,d", Math.round(value));
        }
        int digits = (int) Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
        return String.format(Locale.ROOT, "%." + Math.min(digits, 4) + "f", value);
    }

    /** As Markdown. */
    public List<String> markdown() {
        List<String> lines = new ArrayList<>();
        lines.add("| " + String.join(" | ", columns) + " |");
        StringBuilder rule = new StringBuilder("|");
        for (int i = 0; i < columns.size(); i++) {
            rule.append(isNumeric(i) ? "---:|" : "---|");
        }
        lines.add(rule.toString());
        for (List<Object> row : rows) {
            lines.add("| " + String.join(" | ", row.stream().map(Sheet::shown).toList()) + " |");
        }
        return lines;
    }

    /** As plain text in columns. */
    public List<String> plain() {
        int[] widths = new int[columns.size()];
        for (int i = 0; i < widths.length; i++) {
            widths[i] = columns.get(i).length();
            for (List<Object> row : rows) {
                widths[i] = Math.max(widths[i], shown(row.get(i)).length());
            }
        }
        List<String> lines = new ArrayList<>();
        lines.add(line(columns, widths));
        for (List<Object> row : rows) {
            lines.add(line(row.stream().map(Sheet::shown).toList(), widths));
        }
        return lines;
    }

    private String line(List<String> cells, int[] widths) {
        StringBuilder line = new StringBuilder();
        for (int i = 0; i < widths.length; i++) {
            String blanks = " ".repeat(widths[i] - cells.get(i).length());
            line.append(isNumeric(i) ? blanks + cells.get(i) : cells.get(i) + blanks)
                    .append("  ");
        }
        return line.toString().stripTrailing();
    }

    private boolean isNumeric(int column) {
        return rows.stream().allMatch(row -> row.get(column) instanceof Number || UNKNOWN.equals(row.get(column)));
    }
}
