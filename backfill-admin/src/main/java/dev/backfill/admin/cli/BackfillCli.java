package dev.backfill.admin.cli;

import dev.backfill.admin.cli.ControlCommands.Pause;
import dev.backfill.admin.cli.ControlCommands.Resume;
import dev.backfill.admin.cli.ControlCommands.Retry;
import dev.backfill.admin.cli.ControlCommands.Start;
import java.io.PrintWriter;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Spec;

/**
 * The command line {@code backfill}. Its token comes from the environment or a file, never from an argument, which other users of
 * the machine could read.
 *
 * @since 0.1
 */
@Command(
        name = "backfill",
        description = "Sees and steers backfills through the operator API of a host.",
        mixinStandardHelpOptions = true,
        version = "backfill 0.1",
        synopsisSubcommandLabel = "COMMAND",
        subcommands = {
            ReadCommands.ListAll.class,
            ReadCommands.Show.class,
            ReadCommands.Watch.class,
            ReadCommands.Audit.class,
            ReadCommands.Preflight.class,
            JudgementCommands.VerdictOf.class,
            JudgementCommands.EvidenceOf.class,
            Start.class,
            Pause.class,
            Resume.class,
            Retry.class,
            ControlCommands.Validate.class,
            SettingCommands.PaceOf.class,
            SettingCommands.Rehearse.class,
            Completion.class
        },
        footerHeading = "%nThe host and the token:%n",
        footer = {
            "  BACKFILL_URL         where the API is mounted; default http://localhost:8081/admin/backfills",
            "  BACKFILL_TOKEN       the operator token, or",
            "  BACKFILL_TOKEN_FILE  a file that holds it",
            "  BACKFILL_SERVERS     a file with one server on a line for --server: name, URL, token file",
            "",
            "Exit codes:",
            "  0  done                      6  unavailable; repeat with the same --request-id",
            "  1  unexpected answer         7  validation: failure",
            "  2  wrong usage               8  validation: no result; --may: cannot tell",
            "  3  refused; --may: no        9  it stopped: paused, blocked or failed",
            "  4  not allowed              10  --timeout passed",
            "  5  no such backfill"
        })
public final class BackfillCli implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli
    private CommandSpec spec;

    private final Surroundings surroundings;

    private BackfillCli(Surroundings surroundings) {
        this.surroundings = surroundings;
    }

    /** Runs one command and exits with its code. */
    public static void main(String[] args) {
        // Not the platform's charset: IDs are ASCII, but notes and messages are not.
        PrintWriter out = new PrintWriter(System.out, true, StandardCharsets.UTF_8);
        PrintWriter err = new PrintWriter(System.err, true, StandardCharsets.UTF_8);
        System.exit(run(Surroundings.real(), out, err, args));
    }

    static int run(Surroundings surroundings, PrintWriter out, PrintWriter err, String... args) {
        int code = new CommandLine(new BackfillCli(surroundings))
                .setOut(out)
                .setErr(err)
                .setParameterExceptionHandler(Suggestion::handle)
                .setExecutionExceptionHandler((e, command, parsed) -> failed(e, err))
                .execute(args);
        out.flush();
        err.flush();
        return code;
    }

    @Override
    public Integer call() {
        throw new ParameterException(spec.commandLine(), "Name a command.");
    }

    Surroundings surroundings() {
        return surroundings;
    }

    private static int failed(Exception e, PrintWriter err) throws Exception {
        if (e instanceof CliException known) {
            err.println(Text.clean(String.valueOf(known.getMessage())));
            return known.exitCode();
        }
        if (e instanceof InterruptedException) {
            Thread.currentThread().interrupt();
            err.println("Interrupted.");
            return ExitCode.UNEXPECTED;
        }
        throw e;
    }
}
