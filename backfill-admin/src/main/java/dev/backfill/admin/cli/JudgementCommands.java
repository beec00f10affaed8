package dev.backfill.admin.cli;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** The commands that answer what may be done, and what stands behind that. */
final class JudgementCommands {

    private static final Map<String, String> QUESTIONS = Map.of(
            "start", "may_start",
            "contract", "may_contract",
            "remove-code", "may_remove_code");

    private JudgementCommands() {}

    @Command(
            name = "verdict",
            description = "What may be done now, with reasons: start it, run the contract migration, remove its code."
                    + " With --may, exit code 0 means yes, 3 no, 8 cannot tell.")
    static final class VerdictOf extends RemoteCommand {

        @Parameters(paramLabel = "ID", description = "The backfill, or a family.")
        @SuppressWarnings("NullAway.Init") // picocli
        private String id;

        @Option(
                names = "--may",
                paramLabel = "WHAT",
                description = "Ask for one of it alone: start, contract or remove-code.")
        private @Nullable String question;

        @Override
        public Integer call() throws InterruptedException {
            if (question != null && !QUESTIONS.containsKey(question)) {
                throw usage("--may must be one of start, contract, remove-code.");
            }
            JsonNode verdicts = expect(api().get("/" + Api.encoded(id) + "/verdicts"));
            if (json()) {
                printJson(verdicts);
            } else {
                for (String asked : List.of("start", "contract", "remove-code")) {
                    if (question == null || question.equals(asked)) {
                        print(asked, verdicts.path(QUESTIONS.get(asked)));
                    }
                }
                out().println("work left:        " + Text.left(verdicts.path("time_left")));
            }
            return question == null ? ExitCode.DONE : exitCode(verdicts.path(QUESTIONS.get(question)));
        }

        private void print(String asked, JsonNode verdict) {
            String answer = verdict.path("verdict").asText().replace('_', ' ').toUpperCase(Locale.ROOT);
            out().println(String.format("may %-12s  %s", asked + "?", Text.clean(answer)));
            for (JsonNode reason : verdict.path("reasons")) {
                out().println("  "
                        + Text.clean(reason.path("code").asText() + ": "
                                + reason.path("message").asText()));
            }
        }

        private static int exitCode(JsonNode verdict) {
            return switch (verdict.path("verdict").asText()) {
                case "yes" -> ExitCode.DONE;
                case "no" -> ExitCode.REFUSED;
                default -> ExitCode.NO_RESULT;
            };
        }
    }

    @Command(
            name = "evidence",
            description = "Everything that is known of a backfill as one document, for an auditor or a successor.")
    static final class EvidenceOf extends RemoteCommand {

        @Parameters(paramLabel = "ID", description = "The backfill.")
        @SuppressWarnings("NullAway.Init") // picocli
        private String id;

        @Override
        public Integer call() throws InterruptedException {
            JsonNode evidence = expect(api().get("/" + Api.encoded(id) + "/evidence"));
            if (json()) {
                printJson(evidence);
                return ExitCode.DONE;
            }
            out().println("Evidence as of " + Text.clean(evidence.path("as_of").asText()));
            out().println("Library " + Text.clean(evidence.path("library").asText()) + ", PostgreSQL "
                    + Text.clean(evidence.path("server").asText()));
            out().println();
            Details.of(evidence.path("backfill")).print(out());
            out().println();
            Table definition = new Table("DEFINITION", "");
            for (Map.Entry<String, JsonNode> member :
                    evidence.path("definition").properties()) {
                definition.add(member.getKey().replace('_', ' '), Text.orUnknown(member.getValue()));
            }
            definition.print(out());
            out().println();
            for (String question : List.of("may_start", "may_contract", "may_remove_code")) {
                JsonNode verdict = evidence.path("verdicts").path(question);
                out().println(Text.clean(question.replace('_', ' ') + ": "
                        + verdict.path("verdict").asText().replace('_', ' ') + ". "
                        + verdict.at("/reasons/0/message").asText()));
            }
            out().println();
            ReadCommands.history(evidence.path("audit").path("items")).print(out());
            return ExitCode.DONE;
        }
    }
}
