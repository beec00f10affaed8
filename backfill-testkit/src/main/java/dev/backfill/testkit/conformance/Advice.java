package dev.backfill.testkit.conformance;

import dev.backfill.ActionOutcome;
import dev.backfill.Diagnostic;
import dev.backfill.DiagnosticCode;
import dev.backfill.Finding;
import dev.backfill.StepOutcome;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Says what is wrong with a definition, what was seen, and what to do. */
final class Advice {

    private Advice() {}

    /** A failed check. */
    static AssertionError failure(String fault, String seen, String remedy) {
        return new AssertionError(fault + "\nSeen: " + seen + "\nWhat to do: " + remedy);
    }

    /** A data set or suite with which nothing can be proven. */
    static AssertionError misuse(String problem, String remedy) {
        return new AssertionError("This conformance test can't prove anything. " + problem + "\nWhat to do: " + remedy);
    }

    /** A start that was refused. */
    static AssertionError notStarted(ActionOutcome outcome) {
        if (outcome instanceof ActionOutcome.Conflict conflict
                && !conflict.findings().isEmpty()) {
            String findings =
                    conflict.findings().stream().map(Advice::finding).collect(Collectors.joining("\n  ", "\n  ", ""));
            return failure(
                    "The definition does not fit the tables that seed() made.",
                    conflict.code().wireName() + findings,
                    "Correct the definition, or let seed() make the tables as production has them.");
        }
        return failure("The backfill could not be started.", outcome.toString(), "Read the reason above.");
    }

    private static String finding(Finding finding) {
        return finding.code() + " (" + finding.subject() + "): " + finding.message();
    }

    /** A step after which nothing goes on by itself. */
    static AssertionError ended(String when, StepOutcome.Ended outcome) {
        return failure(
                "The backfill ended as " + outcome.state().wireName() + " instead of completed, " + when + ": "
                        + meaning(outcome.diagnostic()),
                shown(outcome.diagnostic()),
                remedy(outcome.diagnostic()));
    }

    static String shown(Diagnostic diagnostic) {
        return diagnostic.code() + ": " + diagnostic.message()
                + (diagnostic.sqlState() == null ? "" : " (SQLSTATE " + diagnostic.sqlState() + ")");
    }

    private static String meaning(Diagnostic diagnostic) {
        return codes(diagnostic).stream()
                .map(DiagnosticCode::meaning)
                .findFirst()
                .orElse("see below.");
    }

    private static String remedy(Diagnostic diagnostic) {
        return codes(diagnostic).stream()
                .map(DiagnosticCode::remedy)
                .findFirst()
                .orElse("Read the diagnostic above.");
    }

    private static List<DiagnosticCode> codes(Diagnostic diagnostic) {
        return Arrays.stream(DiagnosticCode.values())
                .filter(code -> code.wireName().equals(diagnostic.code()))
                .toList();
    }
}
