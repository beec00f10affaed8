package dev.backfill.admin.cli;

import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import picocli.AutoComplete;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Model.OptionSpec;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;

/** Prints a completion script. Made from the commands themselves, so that it can't fall behind them. */
@Command(
        name = "completion",
        mixinStandardHelpOptions = true,
        description =
                "Prints a completion script for bash, zsh or fish. bash and zsh: source <(backfill completion bash);"
                        + " fish: backfill completion fish | source.")
final class Completion implements Callable<Integer> {

    @Spec
    @SuppressWarnings("NullAway.Init") // picocli
    private CommandSpec spec;

    @Parameters(paramLabel = "SHELL", description = "bash, zsh or fish.")
    @SuppressWarnings("NullAway.Init") // picocli
    private Shell shell;

    /** The shells. */
    enum Shell {
        bash,
        zsh,
        fish
    }

    @Override
    public Integer call() {
        CommandLine root = spec.root().commandLine();
        // The script for bash turns on bash completion in zsh by itself.
        spec.commandLine().getOut().println(shell == Shell.fish ? fish(root) : AutoComplete.bash("backfill", root));
        return ExitCode.DONE;
    }

    private static String fish(CommandLine root) {
        StringBuilder script = new StringBuilder("complete -c backfill -f\n");
        for (Map.Entry<String, CommandLine> command : new TreeMap<>(root.getSubcommands()).entrySet()) {
            CommandSpec spec = command.getValue().getCommandSpec();
            script.append("complete -c backfill -n __fish_use_subcommand -a ")
                    .append(command.getKey())
                    .append(" -d ")
                    .append(quoted(spec.usageMessage().description()))
                    .append('\n');
            for (OptionSpec option : spec.options()) {
                script.append("complete -c backfill -n '__fish_seen_subcommand_from ")
                        .append(command.getKey())
                        .append("' -l ")
                        .append(option.longestName().replaceFirst("^--", ""))
                        .append(option.arity().max() > 0 ? " -r" : "")
                        .append(" -d ")
                        .append(quoted(option.description()))
                        .append('\n');
            }
        }
        return script.toString();
    }

    private static String quoted(String[] description) {
        String first = description.length == 0 ? "" : description[0];
        int end = first.indexOf(". ");
        return "'"
                + (end < 0 ? first : first.substring(0, end + 1))
                        .replace("\\", "\\\\")
                        .replace("'", "\\'") + "'";
    }
}
