package dev.backfill.admin.cli;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;

/** The commands beside the lifecycle: how hard a backfill presses, and what it would do. */
final class SettingCommands {

    private SettingCommands() {}

    @Command(
            name = "pace",
            description =
                    "How hard a backfill may press, and how the database fares. Any limit sets all of them: one that is not"
                            + " given is lifted. Takes effect with the next batch.")
    static final class PaceOf extends ControlCommands.Control {

        @Option(
                names = "--pause-ratio",
                paramLabel = "FACTOR",
                description = "Rest after each batch, as a multiple of its time.")
        private @Nullable Double pauseRatio;

        @Option(names = "--rows-per-second", paramLabel = "N", description = "Most keys scanned per second.")
        private @Nullable Long rowsPerSecond;

        @Option(names = "--wal-bytes-per-second", paramLabel = "N", description = "Most WAL per second, in bytes.")
        private @Nullable Long walBytesPerSecond;

        @Option(
                names = "--target-batch",
                paramLabel = "DURATION",
                description = "The batch size follows this time, such as 200ms.",
                converter = DurationConverter.class)
        private @Nullable Duration targetBatch;

        @Option(names = "--unlimited", description = "Lift every limit.")
        private boolean unlimited;

        @Option(names = "--reset", description = "Back to the definition's own pace.")
        private boolean reset;

        @Override
        public Integer call() throws InterruptedException {
            Api api = api();
            boolean limited =
                    pauseRatio != null || rowsPerSecond != null || walBytesPerSecond != null || targetBatch != null;
            if ((limited ? 1 : 0) + (unlimited ? 1 : 0) + (reset ? 1 : 0) > 1) {
                throw usage("Give limits, --unlimited or --reset, and only one of these.");
            }
            boolean sets = limited || unlimited || reset;
            JsonNode answer = sets
                    ? ask("pace", key -> api.put(id(), "pace", key, body()))
                    : expect(api.get("/" + Api.encoded(id()) + "/pace"));
            if (json()) {
                printJson(answer);
            } else {
                print(sets ? answer.path("pace") : answer);
            }
            return ExitCode.DONE;
        }

        private ObjectNode body() {
            ObjectNode body = JsonNodeFactory.instance.objectNode();
            if (reset) {
                body.put("reset", true);
            } else {
                body.put("pause_ratio", pauseRatio);
                body.put("rows_per_second", rowsPerSecond);
                body.put("wal_bytes_per_second", walBytesPerSecond == null ? null : walBytesPerSecond.toString());
                body.put("target_batch_ms", targetBatch == null ? null : targetBatch.toMillis());
            }
            if (note() != null) {
                body.put("note", note());
            }
            return body;
        }

        private void print(JsonNode pace) {
            out().println((pace.path("by_operator").asBoolean()
                            ? "Set by " + Text.orUnknown(pace.path("set_by"))
                            : "The definition's own pace")
                    + ": rest " + limit(pace, "pause_ratio", " times the batch") + ", rows "
                    + limit(pace, "rows_per_second", "/s") + ", WAL "
                    + limit(pace, "wal_bytes_per_second", " bytes/s") + ", batch "
                    + limit(pace, "target_batch_ms", " ms"));
            Table table = new Table("SIGNAL", "STATUS", "VALUE", "LIMIT", "UNIT", "SOURCE");
            for (JsonNode signal : pace.path("signals")) {
                table.add(
                        Text.clean(signal.path("name").asText()),
                        Text.clean(signal.path("status").asText()),
                        Text.orUnknown(signal.path("value")),
                        Text.orDash(signal.path("limit")),
                        Text.clean(signal.path("unit").asText()),
                        Text.clean(signal.path("source").asText()));
            }
            table.print(out());
        }

        private static String limit(JsonNode pace, String name, String unit) {
            JsonNode value = pace.path(name);
            return value.isNull() ? "unlimited" : Text.clean(value.asText()) + unit;
        }
    }

    @Command(
            name = "rehearse",
            description =
                    "A rehearsal: real batches at the first, a middle and the last window, each rolled back. Moves nothing.")
    static final class Rehearse extends ControlCommands.Control {

        @Override
        String onceMore() {
            return "Nothing of it was kept. This rehearses again:";
        }

        @Override
        public Integer call() throws InterruptedException {
            JsonNode answer = ask("rehearse", key -> api().control(id(), "rehearsal", key, note()));
            if (json()) {
                printJson(answer);
                return ExitCode.DONE;
            }
            JsonNode rehearsal = answer.path("rehearsal");
            out().println("Rehearsal with windows of "
                    + rehearsal.path("batch_size").asText() + " keys. Everything was rolled back.");
            Table table = new Table("WINDOW", "SCANNED", "WOULD CHANGE", "TIME", "WAL BYTES", "FAILURE");
            for (JsonNode sample : rehearsal.path("samples")) {
                table.add(
                        Text.clean(sample.path("position").asText()),
                        Text.count(sample.path("scanned")),
                        Text.count(sample.path("would_change")),
                        sample.path("took_ms").asText() + " ms",
                        Text.count(sample.path("wal_bytes")),
                        sample.path("failure").isNull()
                                ? "-"
                                : Text.clean(sample.at("/failure/code").asText() + ": "
                                        + sample.at("/failure/message").asText()));
            }
            table.print(out());
            rehearsal.path("plan").forEach(line -> out().println("plan: " + Text.clean(line.asText())));
            projection(rehearsal.path("projection"));
            return ExitCode.DONE;
        }

        private void projection(JsonNode whole) {
            if (!whole.isObject()) {
                out().println("The whole: unknown.");
                return;
            }
            out().println("The whole, " + Text.count(whole.path("rows")) + " keys: would change "
                    + range(whole, "changed", "") + " rows, in batches for " + range(whole, "took_ms", " ms") + ", WAL "
                    + range(whole, "wal_bytes", " bytes") + ".");
        }

        private static String range(JsonNode whole, String name, String unit) {
            return Text.count(whole.path(name + "_low")) + " to " + Text.count(whole.path(name + "_high")) + unit;
        }
    }
}
