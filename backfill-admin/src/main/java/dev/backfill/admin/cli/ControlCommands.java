package dev.backfill.admin.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands that change something, and the one that validates. */
final class ControlCommands {

    private ControlCommands() {}

    /** One way to send a request; empty when it is not known whether it arrived. */
    @FunctionalInterface
    interface Sending {
        Optional<Api.Reply> under(String requestId) throws InterruptedException;
    }

    /** What all of them have. */
    abstract static class Control extends RemoteCommand {

        @Parameters(paramLabel = "ID", description = "The backfill.")
        @SuppressWarnings("NullAway.Init") // picocli
        private String id;

        @Option(names = "--note", paramLabel = "TEXT", description = "Why; kept in the audit, at most 500 characters.")
        private @Nullable String note;

        @Option(
                names = "--request-id",
                paramLabel = "KEY",
                description =
                        "Names this request. Give the one of an earlier try to learn its outcome; default a new one.")
        private String requestId = "cli-" + UUID.randomUUID();

        String id() {
            return id;
        }

        @Nullable
        String note() {
            return note;
        }

        /** What it would mean to give the command again. */
        String onceMore() {
            return "Ask again, it can't act twice:";
        }

        private String withRequestId() {
            return isGiven("--request-id") ? asGiven() : asGiven() + " --request-id " + requestId;
        }

        JsonNode ask(Api api, String action) throws InterruptedException {
            return ask(action, key -> api.control(id, action, key, note));
        }

        /** Sends the request of this command under its ID. */
        JsonNode ask(String action, Sending sending) throws InterruptedException {
            if (!requestId.matches("[!-~]{1,128}")) {
                throw usage("--request-id must be 1 to 128 visible ASCII characters without spaces.");
            }
            if (note != null && note.length() > 500) {
                throw usage("--note must have at most 500 characters, got " + note.length() + ".");
            }
            Optional<Api.Reply> reply = sending.under(requestId);
            if (reply.isEmpty()) {
                throw new CliException(
                        ExitCode.UNAVAILABLE,
                        "It is not known whether '" + action + "' happened: no answer came back." + " " + onceMore()
                                + " " + withRequestId());
            }
            if (reply.get().status() == 503) {
                boolean unknown = reply.get().text("code").equals("unavailable");
                err().println((unknown ? "Nothing is known to have changed." : "Nothing was changed.")
                        + " To try again as the same request: --request-id " + requestId);
            }
            return expect(reply.get());
        }
    }

    /** Start, resume and retry, after which one can wait. */
    abstract static class Moving extends Control {

        private final String action;

        @Option(names = "--wait", description = "Wait until it is completed or stops.")
        private boolean wait;

        @Mixin
        private final TimeLimit timeout = new TimeLimit();

        Moving(String action) {
            this.action = action;
        }

        @Override
        public Integer call() throws InterruptedException {
            Api api = api();
            JsonNode answer = ask(api, action);
            report(this, answer);
            return wait ? new Waiter(this, api, timeout.value()).untilEnd(id()) : ExitCode.DONE;
        }
    }

    @Command(name = "start", description = "Captures the end of the source and starts repairing.")
    static final class Start extends Moving {
        Start() {
            super("start");
        }
    }

    @Command(name = "resume", description = "Lets a paused backfill go on after its checkpoint.")
    static final class Resume extends Moving {
        Resume() {
            super("resume");
        }
    }

    @Command(name = "retry", description = "Lets a blocked or failed backfill go on after its checkpoint.")
    static final class Retry extends Moving {
        Retry() {
            super("retry");
        }
    }

    @Command(name = "pause", description = "Stops work at the next batch boundary until somebody resumes it.")
    static final class Pause extends Control {
        @Override
        public Integer call() throws InterruptedException {
            report(this, ask(api(), "pause"));
            return ExitCode.DONE;
        }
    }

    @Command(name = "validate", description = "Runs the read-only validation and tells what it found.")
    static final class Validate extends Control {

        @Option(names = "--wait", description = "Ask again, as the same request, while the validation is running.")
        private boolean wait;

        @Mixin
        private final TimeLimit timeout = new TimeLimit();

        @Override
        public Integer call() throws InterruptedException {
            Api api = api();
            Waiter waiter = new Waiter(this, api, timeout.value());
            JsonNode answer = ask(api, "validate");
            while (wait && answer.path("reason").asText().equals("already_running")) {
                waiter.pause();
                answer = ask(api, "validate");
            }
            if (json()) {
                printJson(answer);
            } else {
                tell(answer);
            }
            return switch (answer.path("outcome").asText()) {
                case "success" -> ExitCode.DONE;
                case "failure" -> ExitCode.VALIDATION_FAILURE;
                default -> ExitCode.NO_RESULT;
            };
        }

        private void tell(JsonNode answer) {
            switch (answer.path("outcome").asText()) {
                case "success" -> out().println("success: it ran, and every row up to the end was as it should be.");
                case "failure" ->
                    out().println("failure: it ran, and rejected what it found. "
                            + Text.clean(answer.at("/diagnostic/code").asText() + ": "
                                    + answer.at("/diagnostic/message").asText()));
                default ->
                    out().println("current-state: no result, neither success nor failure ("
                            + Text.clean(answer.path("reason").asText()) + ").");
            }
        }
    }

    private static void report(Control command, JsonNode answer) {
        if (command.json()) {
            command.printJson(answer);
            return;
        }
        String how = answer.path("result").asText().equals("applied") ? "done" : "it was so already";
        String replayed = answer.path("replayed").asBoolean() ? " (the answer to an earlier copy of this request)" : "";
        command.out()
                .println(command.id() + ": " + how + replayed + ". It is "
                        + Text.clean(answer.at("/backfill/state").asText()) + ".");
    }
}
