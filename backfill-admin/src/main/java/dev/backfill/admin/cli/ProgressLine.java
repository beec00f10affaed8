package dev.backfill.admin.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.PrintWriter;

/** Progress of one backfill: a bar drawn over itself for somebody who watches, a line per change for a log. */
final class ProgressLine {

    private static final int CELLS = 30;

    private final PrintWriter err;
    private final String prefix;
    private final boolean terminal;
    private String shown = "";
    private int drawn;

    /**
     * A line.
     *
     * @param prefix what stands before it, where there are several
     * @param terminal whether it is drawn over itself
     */
    ProgressLine(PrintWriter err, String prefix, boolean terminal) {
        this.err = err;
        this.prefix = prefix;
        this.terminal = terminal;
    }

    void show(JsonNode row) {
        if (terminal) {
            draw(bar(row));
            return;
        }
        JsonNode fraction = row.path("progress").path("fraction");
        String step = row.path("state").asText()
                + (fraction.isNumber() ? (int) (fraction.asDouble() * 10) : "")
                + Text.obstacle(row);
        if (!step.equals(shown)) {
            shown = step;
            err.println(prefix + bar(row));
            err.flush();
        }
    }

    /** What is on the line is no longer current. */
    void stale(String why) {
        if (terminal) {
            draw("not current: " + why);
        } else if (!why.equals(shown)) {
            shown = why;
            err.println(prefix + "not current: " + why);
            err.flush();
        }
    }

    void end() {
        if (terminal && drawn > 0) {
            err.println();
            err.flush();
        }
    }

    private void draw(String line) {
        err.print("\r" + line + " ".repeat(Math.max(0, drawn - line.length())));
        err.flush();
        drawn = line.length();
    }

    private static String bar(JsonNode row) {
        JsonNode progress = row.path("progress");
        JsonNode fraction = progress.path("fraction");
        int full = fraction.isNumber() ? (int) Math.floor(Math.min(1, fraction.asDouble()) * CELLS) : 0;
        String bar = fraction.isNumber() ? "#".repeat(full) + ".".repeat(CELLS - full) : "?".repeat(CELLS);
        String state = Text.clean(row.path("state").asText());
        String obstacle = Text.obstacle(row);
        return String.format(
                "%-10s [%s] %s  %s rows%s%s",
                state,
                bar,
                Text.percent(progress),
                Text.rows(progress),
                state.equals("running")
                        ? "  " + Text.rate(progress.path("rows_per_second")) + "  " + Text.left(progress.path("eta"))
                                + " left"
                        : "",
                obstacle.equals("-") ? "" : "  " + obstacle);
    }
}
