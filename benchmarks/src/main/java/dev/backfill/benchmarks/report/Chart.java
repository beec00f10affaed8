package dev.backfill.benchmarks.report;

import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/**
 * Horizontal bars.
 *
 * @param title what they show
 * @param unit what they are measured in
 * @param bars from top to bottom
 * @since 0.1
 */
public record Chart(String title, String unit, List<Bar> bars) {

    private static final int WIDTH = 820;
    private static final int LEFT = 300;
    private static final int ROW = 26;
    private static final int TOP = 56;

    /**
     * One bar.
     *
     * @param label what it stands for
     * @param value how long it is; at least 0, NaN for unknown
     * @param ours whether it is this library's
     */
    public record Bar(String label, double value, boolean ours) {}

    /** A chart without bars. */
    public static Chart of(String title, String unit) {
        return new Chart(title, unit, new ArrayList<>());
    }

    /** Adds a bar. */
    public void add(String label, double value, boolean ours) {
        bars.add(new Bar(label, value, ours));
    }

    /** As a picture that reads on light and dark pages. */
    public String svg() {
        double most = bars.stream()
                .mapToDouble(Bar::value)
                .filter(v -> !Double.isNaN(v))
                .max()
                .orElse(1);
        int height = TOP + bars.size() * ROW + 16;
        StringBuilder svg = new StringBuilder();
        svg.append(String.format(
                Locale.ROOT,
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"%s\">%n",
                WIDTH,
                height,
                escaped(title)));
        svg.append("<style>text{font:13px system-ui,sans-serif;fill:#1f2328}.head{font-size:16px;font-weight:600}"
                + ".unit{fill:#59636e}.other{fill:#8c959f}.ours{fill:#0969da}.page{fill:#ffffff}</style>\n");
        svg.append(String.format("<rect class=\"page\" width=\"%d\" height=\"%d\" rx=\"6\"/>%n", WIDTH, height));
        svg.append(String.format("<text class=\"head\" x=\"16\" y=\"26\">%s</text>%n", escaped(title)));
        svg.append(String.format("<text class=\"unit\" x=\"16\" y=\"45\">%s</text>%n", escaped(unit)));
        for (int i = 0; i < bars.size(); i++) {
            svg.append(row(bars.get(i), TOP + i * ROW, most <= 0 ? 1 : most));
        }
        return svg.append("</svg>\n").toString();
    }

    private static String row(Bar bar, int y, double most) {
        double length = Double.isNaN(bar.value()) ? 0 : bar.value() / most * (WIDTH - LEFT - 90);
        return String.format(
                Locale.ROOT,
                "<text x=\"%d\" y=\"%d\" text-anchor=\"end\">%s</text>"
                        + "<rect class=\"%s\" x=\"%d\" y=\"%d\" width=\"%.1f\" height=\"18\" rx=\"2\"/>"
                        + "<text x=\"%.1f\" y=\"%d\">%s</text>%n",
                LEFT - 8,
                y + 14,
                escaped(bar.label()),
                bar.ours() ? "ours" : "other",
                LEFT,
                y,
                Math.max(length, 1),
                LEFT + Math.max(length, 1) + 6,
                y + 14,
                escaped(Sheet.shown(bar.value())));
    }

    private static String escaped(String text) {
        return text.replace("&", "&amp;")
                .replace("<", "&lt;")
                .replace(">", "&gt;")
                .replace("\"", "&quot;");
    }
}
