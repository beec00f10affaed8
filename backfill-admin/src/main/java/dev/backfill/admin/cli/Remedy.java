package dev.backfill.admin.cli;

import com.fasterxml.jackson.databind.JsonNode;

/** What somebody who looks at a backfill should do next, in a sentence. The remedies of diagnostics are the server's own words. */
final class Remedy {

    private Remedy() {}

    /**
     * What to do.
     *
     * @param diagnostics the server's meanings and remedies, by code
     */
    static String of(JsonNode row, JsonNode diagnostics) {
        String id = Text.clean(row.path("id").asText());
        String code = row.path("diagnostic").path("code").asText();
        return switch (row.path("state").asText()) {
            case "pending" ->
                "Roll out the write path and drain old writers; then 'backfill preflight " + id + "', 'backfill start "
                        + id + "'.";
            case "paused" ->
                "Somebody paused it ('backfill audit " + id + "' says why). To go on: 'backfill resume " + id + "'.";
            case "blocked", "failed" -> remedy(diagnostics.path(code)) + " Then 'backfill retry " + id + "'.";
            case "completed" -> "Nothing. What may follow: 'backfill verdict " + id + "'.";
            default -> row.path("waiting").isObject() ? waiting(row.path("waiting")) : "Nothing; it is at work.";
        };
    }

    private static String remedy(JsonNode diagnostic) {
        return diagnostic.path("remedy").isTextual()
                ? Text.clean(diagnostic.path("remedy").asText())
                : "Read the diagnostic and remove its cause.";
    }

    private static String waiting(JsonNode waiting) {
        return switch (waiting.path("reason").asText()) {
            case "start_barrier" -> "End the transactions that were open at the start, or wait for them.";
            case "lock_wait" -> "End the session that holds the lock, or wait for it.";
            case "no_worker" -> "Start a host that runs workers and has the definition.";
            case "unknown_here" -> "Ask a host that has the definition (--url, --server).";
            case "schema" -> "Migrate or grant what is named.";
            case "capacity" -> "Wait, or give its hosts more workers or connections.";
            case "throttled" -> "Nothing, or change its pace: 'backfill pace'.";
            case "prerequisite" -> "Complete the backfill that comes before it.";
            case "read_only" -> "Make the database or role writable again.";
            case "commit_wait" -> "Look at the synchronous standby.";
            default -> "Nothing; it goes on by itself.";
        };
    }
}
