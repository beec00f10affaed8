package dev.backfill.admin.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.io.IOException;
import java.io.PrintWriter;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.ParentCommand;
import picocli.CommandLine.Spec;

/** What every command has: a host, a token, two ways to print. */
@Command(mixinStandardHelpOptions = true)
abstract class RemoteCommand implements Callable<Integer> {

    private static final String DEFAULT_URL = "http://localhost:8081/admin/backfills";

    @ParentCommand
    @SuppressWarnings("NullAway.Init") // picocli
    private BackfillCli parent;

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli
    private CommandSpec spec;

    @Option(names = "--url", paramLabel = "URL", description = "Where the API is mounted; overrides BACKFILL_URL.")
    private @Nullable String url;

    @Option(
            names = "--token-file",
            paramLabel = "FILE",
            description = "A file that holds the operator token; overrides BACKFILL_TOKEN_FILE and BACKFILL_TOKEN.")
    private @Nullable Path tokenFile;

    @Option(
            names = "--server",
            paramLabel = "NAME",
            split = ",",
            description = "Servers of the file BACKFILL_SERVERS by name, or all; several for list and watch.")
    private List<String> servers = List.of();

    @Option(names = "--json", description = "Print what the server answered, for scripts.")
    private boolean json;

    /** The one server that this command speaks to. */
    Api api() {
        if (servers.isEmpty()) {
            return new Api(base(url), token(""), surroundings().pause());
        }
        Map<String, Api> found = apis();
        if (found.size() != 1) {
            throw usage("This command speaks to one server; --server names " + found.size() + ".");
        }
        return found.values().iterator().next();
    }

    /** Every server that was named, by its name; the only one is called by an empty name. */
    Map<String, Api> apis() {
        if (servers.isEmpty()) {
            return Map.of("", api());
        }
        String file = environment().get("BACKFILL_SERVERS");
        if (file == null) {
            throw usage("--server needs BACKFILL_SERVERS: a file with one server on a line: name, URL, token file.");
        }
        Map<String, Api> found = new LinkedHashMap<>();
        try {
            for (Servers.Server server : Servers.of(Path.of(file), servers)) {
                found.put(
                        server.name(),
                        new Api(
                                base(server.url()),
                                token(server.tokenFile()),
                                surroundings().pause()));
            }
        } catch (IOException e) {
            throw usage(
                    "The file of servers " + file + " can't be used: " + Text.clean(String.valueOf(e.getMessage())));
        }
        return found;
    }

    Surroundings surroundings() {
        return parent.surroundings();
    }

    PrintWriter out() {
        return spec.commandLine().getOut();
    }

    PrintWriter err() {
        return spec.commandLine().getErr();
    }

    boolean json() {
        return json;
    }

    /** The whole command as it was given, for a shell. A token is never among its arguments. */
    String asGiven() {
        return Stream.concat(Stream.of("backfill"), spec.root().commandLine().getParseResult().originalArgs().stream())
                .map(word -> word.matches("[A-Za-z0-9@%+=:,./_-]+") ? word : "'" + word.replace("'", "'\\''") + "'")
                .collect(Collectors.joining(" "));
    }

    boolean isGiven(String option) {
        return spec.commandLine().getParseResult().hasMatchedOption(option);
    }

    ParameterException usage(String message) {
        return new ParameterException(spec.commandLine(), message);
    }

    /** Prints an answer as it came; one line, so that a stream of answers can be read line by line. */
    void printJson(JsonNode answer) {
        out().println(answer);
    }

    /** The body of a good answer; of another one, the end of the command. */
    JsonNode expect(Api.Reply reply) {
        if (reply.ok()) {
            return reply.body();
        }
        if (json) {
            printJson(reply.body());
        }
        throw refusal(reply);
    }

    static CliException refusal(Api.Reply reply) {
        String what = reply.text("code") + ": " + reply.text("detail");
        return switch (reply.status()) {
            case 401, 403 -> new CliException(ExitCode.NOT_ALLOWED, what);
            case 404 -> new CliException(ExitCode.NOT_FOUND, what);
            case 409 -> new CliException(ExitCode.REFUSED, what + state(reply) + findings(reply));
            case 503 -> new CliException(ExitCode.UNAVAILABLE, what);
            default -> new CliException(ExitCode.UNEXPECTED, reply.status() + " " + what);
        };
    }

    private static String state(Api.Reply reply) {
        JsonNode state = reply.body().path("backfill").path("state");
        return state.isTextual() ? " It is " + state.asText() + "." : "";
    }

    private static String findings(Api.Reply reply) {
        StringBuilder found = new StringBuilder();
        for (JsonNode finding : reply.body().path("findings")) {
            found.append(" [")
                    .append(finding.path("code").asText())
                    .append("] ")
                    .append(finding.path("subject").asText())
                    .append(": ")
                    .append(finding.path("message").asText());
        }
        return found.toString();
    }

    private URI base(@Nullable String asked) {
        String given = asked != null ? asked : environment().getOrDefault("BACKFILL_URL", DEFAULT_URL);
        URI base;
        try {
            base = URI.create(given.replaceAll("/+$", ""));
        } catch (IllegalArgumentException e) {
            throw usage("The URL can't be read: " + Text.clean(given));
        }
        if (base.getHost() == null || !String.valueOf(base.getScheme()).matches("https?") || base.getQuery() != null) {
            throw usage("The URL must look like https://host:port/admin/backfills, got: " + Text.clean(given));
        }
        return base;
    }

    private String token(String ofServer) {
        String token =
                !ofServer.isEmpty() ? read(Path.of(ofServer)) : tokenFile != null ? read(tokenFile) : fromEnvironment();
        if (token == null) {
            throw usage("No token: set BACKFILL_TOKEN or BACKFILL_TOKEN_FILE, or give --token-file.");
        }
        if (!token.matches("[!-~]+")) {
            throw usage("The token must be visible ASCII characters without spaces; look at where it comes from.");
        }
        return token;
    }

    private @Nullable String fromEnvironment() {
        String file = environment().get("BACKFILL_TOKEN_FILE");
        return file != null ? read(Path.of(file)) : environment().get("BACKFILL_TOKEN");
    }

    private String read(Path file) {
        try {
            return Files.readString(file).strip();
        } catch (IOException e) {
            throw usage(
                    "The token file " + file + " can't be read (" + e.getClass().getSimpleName() + ").");
        }
    }

    private Map<String, String> environment() {
        return surroundings().environment();
    }
}
