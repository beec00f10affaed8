package dev.backfill.admin.cli;

import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.List;

/** Columns for people. The last column may be as long as it likes. */
final class Table {

    private final List<List<String>> rows = new ArrayList<>();

    Table(String... header) {
        rows.add(List.of(header));
    }

    void add(String... cells) {
        rows.add(List.of(cells));
    }

    void print(PrintWriter out) {
        int columns = rows.get(0).size();
        int[] widths = new int[columns];
        for (List<String> row : rows) {
            for (int i = 0; i < columns; i++) {
                widths[i] = Math.max(widths[i], width(row.get(i)));
            }
        }
        for (List<String> row : rows) {
            StringBuilder line = new StringBuilder();
            for (int i = 0; i < columns - 1; i++) {
                line.append(row.get(i)).append(" ".repeat(widths[i] - width(row.get(i)) + 2));
            }
            out.println(line.append(row.get(columns - 1)).toString().stripTrailing());
        }
    }

    private static int width(String text) {
        return text.codePointCount(0, text.length());
    }
}
