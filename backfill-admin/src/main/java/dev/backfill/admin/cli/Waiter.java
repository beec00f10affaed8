package dev.backfill.admin.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** Watches one backfill until it is completed, stops, or time is up. */
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
        ProgressLine line =
                new ProgressLine(command.err(), command.surroundings().terminal());
        String last = "";
        try {
            while (true) {
                JsonNode row = read(id, line);
                if (row != null) {
                    if (command.json() && !row.toString().equals(last)) {
                        last = row.toString();
                        command.printJson(row);
                    } else if (!command.json()) {
                        line.show(row);
                    }
                    Integer end = endOf(row.path("state").asText());
                    if (end != null) {
                        return end;
                    }
                }
                pause();
            }
        } finally {
            line.end();
        }
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
