package dev.backfill.admin.cli;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backfill.internal.BoundedText;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;

/** How values read in a terminal. Whatever the server sent is cleaned first: it could otherwise steer the terminal. */
final class Text {

    private static final int MAX = 2_000;

    private Text() {}

    static String clean(String text) {
        return BoundedText.clean(text, MAX);
    }

    static String orUnknown(JsonNode value) {
        return value.isNull() || value.isMissingNode() ? "unknown" : clean(value.asText());
    }

    static String orDash(JsonNode value) {
        return value.isNull() || value.isMissingNode() ? "-" : clean(value.asText());
    }

    static String key(JsonNode key) {
        List<String> columns = new ArrayList<>();
        key.forEach(column -> columns.add(clean(column.asText())));
        return columns.size() == 1 ? columns.get(0) : "(" + String.join(", ", columns) + ")";
    }

    static String count(JsonNode number) {
        return number.asText().matches("-?[0-9]{1,18}")
                ? String.format(Locale.ROOT, "%,d", Long.parseLong(number.asText()))
                : orUnknown(number);
    }

    /** The share that is done, rounded down; 100 % is for a total that was counted, never for an estimate. */
    static String percent(JsonNode progress) {
        JsonNode fraction = progress.path("fraction");
        if (!fraction.isNumber()) {
            return "unknown";
        }
        boolean counted = progress.path("rows_total").isTextual();
        double tenths = Math.floor(fraction.asDouble() * 1_000) / 10;
        return String.format(
                Locale.ROOT,
                "%s%.1f %%",
                counted ? "" : "~",
                counted && fraction.asDouble() == 1 ? 100 : Math.min(tenths, 99.9));
    }

    static String rows(JsonNode progress) {
        return progress.path("rows_total").isTextual()
                ? count(progress.path("rows_scanned")) + " of " + count(progress.path("rows_total"))
                : count(progress.path("rows_scanned")) + " of unknown";
    }

    static String rate(JsonNode rowsPerSecond) {
        return rowsPerSecond.isNumber() ? String.format(Locale.ROOT, "%,.0f/s", rowsPerSecond.asDouble()) : "unknown";
    }

    static String left(JsonNode eta) {
        if (!eta.isTextual()) {
            return "unknown";
        }
        Duration left = Duration.parse(eta.asText());
        if (left.toHours() > 0) {
            return left.toHours() + " h " + left.toMinutesPart() + " min";
        }
        return left.toMinutes() > 0
                ? left.toMinutes() + " min " + left.toSecondsPart() + " s"
                : left.toSeconds() + " s";
    }

    /** Why a backfill does not move, in a line; a dash when it does or need not. */
    static String obstacle(JsonNode row) {
        JsonNode diagnostic = row.path("diagnostic");
        if (diagnostic.isObject()) {
            return clean(diagnostic.path("code").asText() + ": "
                    + diagnostic.path("message").asText());
        }
        JsonNode waiting = row.path("waiting");
        return waiting.isObject()
                ? clean(waiting.path("reason").asText() + ": "
                        + waiting.path("detail").asText())
                : "-";
    }
}
