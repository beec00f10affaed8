package dev.backfill.admin.cli;

import java.util.Comparator;
import java.util.Optional;
import picocli.CommandLine;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.UnmatchedArgumentException;

/** Wrong usage: what was wrong, and the command that was probably meant. */
final class Suggestion {

    private static final int CLOSE = 2;

    private Suggestion() {}

    static int handle(ParameterException e, String[] args) {
        CommandLine command = e.getCommandLine();
        command.getErr().println(Text.clean(String.valueOf(e.getMessage())));
        Optional<String> meant = e instanceof UnmatchedArgumentException unmatched
                        && !unmatched.getUnmatched().isEmpty()
                ? of(command, unmatched.getUnmatched().get(0))
                : Optional.empty();
        if (meant.isPresent()) {
            command.getErr().println("Did you mean '" + meant.get() + "'?");
        } else {
            command.usage(command.getErr());
        }
        return ExitCode.USAGE;
    }

    private static Optional<String> of(CommandLine command, String given) {
        return command.getSubcommands().keySet().stream()
                .filter(name -> distance(name, given) <= CLOSE)
                .min(Comparator.comparing((String name) -> distance(name, given))
                        .thenComparing(name -> name));
    }

    /** How many letters are missing, superfluous, wrong or swapped with their neighbour. */
    private static int distance(String a, String b) {
        int[][] d = new int[a.length() + 1][b.length() + 1];
        for (int i = 0; i <= a.length(); i++) {
            for (int j = 0; j <= b.length(); j++) {
                if (i == 0 || j == 0) {
                    d[i][j] = i + j;
                    continue;
                }
                int wrong = a.charAt(i - 1) == b.charAt(j - 1) ? 0 : 1;
                d[i][j] = Math.min(Math.min(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + wrong);
                if (i > 1 && j > 1 && a.charAt(i - 1) == b.charAt(j - 2) && a.charAt(i - 2) == b.charAt(j - 1)) {
                    d[i][j] = Math.min(d[i][j], d[i - 2][j - 2] + 1);
                }
            }
        }
        return d[a.length()][b.length()];
    }
}
