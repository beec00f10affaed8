package dev.backfill.admin.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands that only look. */
final class ReadCommands {

    private ReadCommands() {}

    @Command(name = "list", description = "Backfills, and whether readiness waits for one. Families are one line.")
    static final class ListAll extends RemoteCommand {

        @Option(names = "--state", paramLabel = "STATE", split = ",", description = "Only these states.")
        private List<String> states = List.of();

        @Option(
                names = "--label",
                paramLabel = "NAME:VALUE",
                description = "Only with this label; several must all hold.")
        private List<String> labels = List.of();

        @Option(names = "--family", paramLabel = "ID", description = "Only the parts of this family.")
        private @Nullable String family;

        @Option(names = "--parts", description = "Each part of a family on a line of its own.")
        private boolean parts;

        @Parameters(paramLabel = "TEXT", arity = "0..1", description = "Only where ID or description holds this text.")
        private @Nullable String text;

        @Override
        public Integer call() throws InterruptedException {
            Map<String, Api> servers = apis();
            boolean fleet = servers.size() > 1;
            Table table = fleet
                    ? new Table("SERVER", "ID", "STATE", "DONE", "ROWS", "RATE", "LEFT", "OBSTACLE")
                    : new Table("ID", "STATE", "DONE", "ROWS", "RATE", "LEFT", "OBSTACLE");
            List<String> ends = new ArrayList<>();
            for (Map.Entry<String, Api> server : servers.entrySet()) {
                JsonNode overview = expect(server.getValue().get("/" + query()));
                if (json()) {
                    printJson(overview);
                    continue;
                }
                overview.path("backfills").forEach(row -> table.add(cells(fleet ? server.getKey() : null, row)));
                ends.add((fleet ? server.getKey() + ": " : "") + gate(overview.path("gate")));
            }
            if (!json()) {
                table.print(out());
                out().println();
                ends.forEach(out()::println);
            }
            return ExitCode.DONE;
        }

        private String query() {
            StringBuilder query = new StringBuilder(parts || family != null ? "?" : "?collapse=families");
            states.forEach(state -> query.append("&state=").append(Api.encoded(state)));
            labels.forEach(label -> query.append("&label=").append(Api.encoded(label)));
            if (family != null) {
                query.append("&family=").append(Api.encoded(family));
            }
            if (text != null) {
                query.append("&q=").append(Api.encoded(text));
            }
            return query.toString();
        }

        private static String[] cells(@Nullable String server, JsonNode row) {
            JsonNode progress = row.path("progress");
            boolean running = row.path("state").asText().equals("running");
            List<String> cells = new ArrayList<>(server == null ? List.of() : List.of(server));
            cells.add(Text.clean(row.path("id").asText()));
            cells.add(Text.clean(row.path("state").asText()));
            cells.add(row.path("state").asText().equals("pending") ? "-" : Text.percent(progress));
            cells.add(Text.count(progress.path("rows_scanned")));
            cells.add(running ? Text.rate(progress.path("rows_per_second")) : "-");
            cells.add(running ? Text.left(progress.path("eta")) : "-");
            cells.add(Text.obstacle(row));
            return cells.toArray(new String[0]);
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
            Api api = api();
            JsonNode row = expect(api.get("/" + Api.encoded(id)));
            if (json()) {
                printJson(row);
                return ExitCode.DONE;
            }
            Details.of(row).print(out());
            Api.Reply diagnostics = api.get("/console/diagnostics.json");
            out().println();
            out().println("What to do: " + Remedy.of(row, diagnostics.body()));
            return ExitCode.DONE;
        }
    }

    @Command(name = "watch", description = "Follows backfills until each is completed or stops.")
    static final class Watch extends RemoteCommand {

        @Parameters(paramLabel = "ID", arity = "1..*", description = "The backfills, or families.")
        @SuppressWarnings("NullAway.Init") // picocli
        private List<String> ids;

        @Mixin
        private final TimeLimit timeout = new TimeLimit();

        @Override
        public Integer call() throws InterruptedException {
            return new Waiter(this, api(), timeout.value()).untilAllEnd(ids);
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
            history(page.path("items")).print(out());
            if (page.path("next_before").isTextual()) {
                out().println("More: --before "
                        + Text.clean(page.path("next_before").asText()));
            }
            return ExitCode.DONE;
        }
    }

    /** Audit records as a table. */
    static Table history(JsonNode items) {
        Table table = new Table("AUDIT ID", "AT", "WHO", "ID", "ACTION", "OUTCOME", "STATE", "NOTE");
        for (JsonNode item : items) {
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
        return table;
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
