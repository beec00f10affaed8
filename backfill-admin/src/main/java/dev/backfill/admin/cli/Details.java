package dev.backfill.admin.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;

/** One backfill as a list of facts. */
final class Details {

    private Details() {}

    static Table of(JsonNode row) {
        Table table = new Table(
                Text.clean(row.path("id").asText()),
                Text.clean(row.path("description").asText()));
        JsonNode progress = row.path("progress");
        JsonNode claim = row.path("claim");
        JsonNode retry = row.path("retry");
        table.add("state", Text.clean(row.path("state").asText()));
        table.add("obstacle", Text.obstacle(row));
        table.add("actions", actions(row));
        table.add("done", Text.percent(progress));
        table.add("rows", Text.rows(progress));
        table.add("rows changed", Text.count(progress.path("rows_changed")));
        table.add("rate", Text.rate(progress.path("rows_per_second")));
        table.add("time left", Text.left(progress.path("eta")));
        range(table, row);
        table.add("checkpoint", row.path("checkpoint").isNull() ? "none" : Text.key(row.path("checkpoint")));
        table.add(
                "claim",
                claim.path("owner").isNull()
                        ? Text.clean(claim.path("status").asText())
                        : Text.clean(claim.path("status").asText() + " by "
                                + claim.path("owner").asText()));
        table.add("generation", Text.clean(claim.path("generation").asText()));
        table.add(
                "attempts",
                retry.path("attempt").asText() + " of "
                        + retry.path("max_attempts").asText());
        table.add("next attempt", Text.orDash(retry.path("next_at")));
        table.add("last error", diagnostic(retry.path("last_error")));
        table.add("validation", validation(row.path("validation")));
        table.add("known here", row.path("known_here").asBoolean() ? "yes" : "no");
        table.add("required", row.path("required").asBoolean() ? "yes" : "no");
        for (String time :
                List.of("registered_at", "started_at", "last_progress_at", "validating_at", "completed_at")) {
            table.add(time.replace('_', ' '), Text.orDash(row.path(time)));
        }
        return table;
    }

    private static String actions(JsonNode row) {
        List<String> names = new ArrayList<>();
        row.path("actions").forEach(action -> names.add(Text.clean(action.asText())));
        return names.isEmpty() ? "-" : String.join(", ", names);
    }

    private static void range(Table table, JsonNode row) {
        if (row.path("family").isTextual()) {
            table.add("family", Text.clean(row.path("family").asText()));
            table.add("after", bound(row.path("bound"), "after"));
        }
        table.add("bound", bound(row.path("bound"), "key"));
    }

    private static String bound(JsonNode bound, String end) {
        return switch (bound.path("kind").asText()) {
            case "none" -> "none";
            case "empty" -> "empty source";
            default -> bound.path(end).isNull() ? "none" : Text.key(bound.path(end));
        };
    }

    private static String validation(JsonNode validation) {
        String at = validation.path("at").isNull()
                ? ""
                : " at " + validation.path("at").asText();
        return Text.clean(validation.path("disposition").asText() + at)
                + diagnostic(validation.path("diagnostic"), ", ", "");
    }

    private static String diagnostic(JsonNode diagnostic) {
        return diagnostic(diagnostic, "", "-");
    }

    private static String diagnostic(JsonNode diagnostic, String before, String none) {
        return diagnostic.isObject()
                ? before
                        + Text.clean(diagnostic.path("code").asText() + ": "
                                + diagnostic.path("message").asText())
                : none;
    }
}
