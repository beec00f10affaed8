package dev.backfill.admin.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Watches backfills until each is completed or stops, or time is up. */
final class Waiter {

    private static final Duration POLL = Duration.ofSeconds(1);

    private final RemoteCommand command;
    private final Api api;
    private final @Nullable Duration limit;
    private final long begun = System.nanoTime();

    Waiter(RemoteCommand command, Api api, @Nullable Duration limit) {
        this.command = command;
        this.api = api;
        this.limit = limit;
    }

    /** Returns the exit code of where it ended. */
    int untilEnd(String id) throws InterruptedException {
        return untilAllEnd(List.of(id));
    }

    /** Returns the worst exit code of where they ended. */
    int untilAllEnd(List<String> ids) throws InterruptedException {
        Map<String, ProgressLine> open = new LinkedHashMap<>();
        boolean alone = ids.size() == 1;
        for (String id : ids) {
            boolean drawn = alone && command.surroundings().terminal();
            open.put(id, new ProgressLine(command.err(), alone ? "" : id + ": ", drawn));
        }
        Map<String, String> last = new HashMap<>();
        int worst = ExitCode.DONE;
        try {
            while (true) {
                for (String id : List.copyOf(open.keySet())) {
                    Integer end = look(id, open.get(id), last);
                    if (end != null) {
                        worst = Math.max(worst, end);
                        open.remove(id).end();
                    }
                }
                if (open.isEmpty()) {
                    return worst;
                }
                pause();
            }
        } finally {
            open.values().forEach(ProgressLine::end);
        }
    }

    private @Nullable Integer look(String id, ProgressLine line, Map<String, String> last) throws InterruptedException {
        JsonNode row = read(id, line);
        if (row == null) {
            return null;
        }
        if (!command.json()) {
            line.show(row);
        } else if (!row.toString().equals(last.put(id, row.toString()))) {
            command.printJson(row);
        }
        return endOf(row.path("state").asText());
    }

    /** Waits for one round; throws when time is up. */
    void pause() throws InterruptedException {
        if (limit != null && System.nanoTime() - begun >= limit.toNanos()) {
            throw new CliException(ExitCode.TIMED_OUT, "The time of --timeout passed; nothing was changed by that.");
        }
        command.surroundings().pause().forAbout(POLL);
    }

    /** A read that fails for a while ends nothing: what is unknown is neither stopped nor done. */
    private @Nullable JsonNode read(String id, ProgressLine line) throws InterruptedException {
        try {
            Api.Reply reply = api.get("/" + Api.encoded(id));
            if (reply.status() != 503) {
                return command.expect(reply);
            }
            line.stale(Text.clean(reply.text("detail")));
        } catch (CliException e) {
            if (e.exitCode() != ExitCode.UNAVAILABLE) {
                throw e;
            }
            line.stale(String.valueOf(e.getMessage()));
        }
        return null;
    }

    private static @Nullable Integer endOf(String state) {
        return switch (state) {
            case "completed" -> ExitCode.DONE;
            case "paused", "blocked", "failed" -> ExitCode.STOPPED;
            default -> null;
        };
    }
}
