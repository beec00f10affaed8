package dev.backfill.admin.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands that only look. */
final class ReadCommands {

    private ReadCommands() {}

    @Command(name = "list", description = "Every backfill, and whether readiness waits for one.")
    static final class ListAll extends RemoteCommand {
        @Override
        public Integer call() throws InterruptedException {
            JsonNode overview = expect(api().get("/"));
            if (json()) {
                printJson(overview);
                return ExitCode.DONE;
            }
            Table table = new Table("ID", "STATE", "DONE", "ROWS", "RATE", "LEFT", "OBSTACLE");
            for (JsonNode row : overview.path("backfills")) {
                JsonNode progress = row.path("progress");
                boolean running = row.path("state").asText().equals("running");
                table.add(
                        Text.clean(row.path("id").asText()),
                        Text.clean(row.path("state").asText()),
                        row.path("state").asText().equals("pending") ? "-" : Text.percent(progress),
                        Text.count(progress.path("rows_scanned")),
                        running ? Text.rate(progress.path("rows_per_second")) : "-",
                        running ? Text.left(progress.path("eta")) : "-",
                        Text.obstacle(row));
            }
            table.print(out());
            out().println();
            out().println(gate(overview.path("gate")));
            return ExitCode.DONE;
        }

        private static String gate(JsonNode gate) {
            if (gate.path("mode").asText().equals("manual")) {
                return "Manual mode: no backfill keeps this host from being ready.";
            }
            List<String> reasons = new ArrayList<>();
            for (JsonNode reason : gate.path("reasons")) {
                reasons.add(
                        reason.path("id").asText() + " (" + reason.path("state").asText() + ": "
                                + reason.path("code").asText() + ")");
            }
            return Text.clean("Readiness gate " + gate.path("state").asText()
                    + (reasons.isEmpty() ? "." : ": " + String.join(", ", reasons)));
        }
    }

    @Command(name = "show", description = "One backfill in detail.")
    static final class Show extends RemoteCommand {

        @Parameters(paramLabel = "ID", description = "The backfill.")
        @SuppressWarnings("NullAway.Init") // picocli
        private String id;

        @Override
        public Integer call() throws InterruptedException {
            JsonNode row = expect(api().get("/" + Api.encoded(id)));
            if (json()) {
                printJson(row);
            } else {
                Details.of(row).print(out());
            }
            return ExitCode.DONE;
        }
    }

    @Command(name = "watch", description = "Follows one backfill until it is completed or stops.")
    static final class Watch extends RemoteCommand {

        @Parameters(paramLabel = "ID", description = "The backfill.")
        @SuppressWarnings("NullAway.Init") // picocli
        private String id;

        @Mixin
        private final TimeLimit timeout = new TimeLimit();

        @Override
        public Integer call() throws InterruptedException {
            return new Waiter(this, api(), timeout.value()).untilEnd(id);
        }
    }

    @Command(
            name = "audit",
            description = "Who asked for what, newest first; without an ID of all backfills, denials included.")
    static final class Audit extends RemoteCommand {

        @Parameters(paramLabel = "ID", arity = "0..1", description = "The backfill.")
        private @Nullable String id;

        @Option(names = "--limit", description = "How many records, 1 to 200; default ${DEFAULT-VALUE}.")
        private int limit = 50;

        @Option(names = "--before", paramLabel = "AUDIT_ID", description = "Only records before this one.")
        private @Nullable String before;

        @Override
        public Integer call() throws InterruptedException {
            if (before != null && !before.matches("[0-9]{1,18}")) {
                throw usage("--before must be an audit ID.");
            }
            String path = (id == null ? "" : "/" + Api.encoded(id)) + "/audit?limit=" + limit
                    + (before == null ? "" : "&before=" + before);
            JsonNode page = expect(api().get(path));
            if (json()) {
                printJson(page);
                return ExitCode.DONE;
            }
            Table table = new Table("AUDIT ID", "AT", "WHO", "ID", "ACTION", "OUTCOME", "STATE", "NOTE");
            for (JsonNode item : page.path("items")) {
                table.add(
                        Text.clean(item.path("audit_id").asText()),
                        Text.clean(item.path("at").asText()),
                        Text.clean(item.path(item.path("actor").isNull() ? "authority" : "actor")
                                .asText()),
                        Text.orDash(item.path("id")),
                        Text.clean(item.path("action").asText()),
                        Text.clean(item.path("outcome").asText()),
                        Text.orDash(item.path("resulting_state")),
                        Text.orDash(item.path("note")));
            }
            table.print(out());
            if (page.path("next_before").isTextual()) {
                out().println("More: --before "
                        + Text.clean(page.path("next_before").asText()));
            }
            return ExitCode.DONE;
        }
    }

    @Command(
            name = "preflight",
            description = "What would stand in the way of a start. Changes nothing; exit code 3 if anything does.")
    static final class Preflight extends RemoteCommand {

        @Parameters(paramLabel = "ID", description = "The backfill.")
        @SuppressWarnings("NullAway.Init") // picocli
        private String id;

        @Override
        public Integer call() throws InterruptedException {
            JsonNode found = expect(api().get("/" + Api.encoded(id) + "/preflight"));
            if (json()) {
                printJson(found);
            } else {
                print("error", found.path("errors"));
                print("warning", found.path("warnings"));
                JsonNode estimates = found.path("estimates");
                out().println("rows: " + Text.count(estimates.path("rows")) + ", WAL: "
                        + Text.count(estimates.path("wal_bytes"))
                        + (estimates.path("wal_bytes").isNull() ? "" : " bytes"));
            }
            return found.path("errors").isEmpty() ? ExitCode.DONE : ExitCode.REFUSED;
        }

        private void print(String kind, JsonNode findings) {
            for (JsonNode finding : findings) {
                out().println(Text.clean(kind + " " + finding.path("code").asText() + ", "
                        + finding.path("subject").asText() + ": "
                        + finding.path("message").asText()));
            }
        }
    }
}
