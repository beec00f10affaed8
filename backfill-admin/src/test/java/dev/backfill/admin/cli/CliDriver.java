package dev.backfill.admin.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.URI;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** Runs the command line inside the test, with an environment of its own and waits that do not take time. */
public final class CliDriver {

    private final Map<String, String> environment;
    private final Runnable duringWait;

    /** A driver whose waits run what happens meanwhile. */
    public CliDriver(URI api, String token, Runnable duringWait) {
        this(Map.of("BACKFILL_URL", api.toString(), "BACKFILL_TOKEN", token), duringWait);
    }

    CliDriver(Map<String, String> environment, Runnable duringWait) {
        this.environment = environment;
        this.duringWait = duringWait;
    }

    /** A driver with a file of servers, and the token that those share which have none of their own. */
    public static CliDriver ofServers(Path file, String token) {
        return new CliDriver(Map.of("BACKFILL_SERVERS", file.toString(), "BACKFILL_TOKEN", token), () -> {});
    }

    /** What a run printed and its exit code. */
    public record Ran(int code, String out, String err, List<Duration> waits) {}

    /** Runs one command. */
    public Ran run(String... args) {
        StringWriter out = new StringWriter();
        StringWriter err = new StringWriter();
        List<Duration> waits = new ArrayList<>();
        Surroundings surroundings = new Surroundings(environment, false, wait -> {
            waits.add(wait);
            duringWait.run();
        });
        int code = BackfillCli.run(surroundings, new PrintWriter(out), new PrintWriter(err), args);
        return new Ran(code, out.toString(), err.toString(), waits);
    }
}
