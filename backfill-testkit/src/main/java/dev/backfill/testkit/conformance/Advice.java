package dev.backfill.testkit.conformance;

import dev.backfill.host.StepOutcome;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.operate.Preflight.Finding;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Collectors;

/** Says what is wrong with a definition, what was seen, and what to do. */
final class Advice {

    /** When the reference run is made. */
    static final String REFERENCE = "in one uninterrupted run";

    private static final String READ_ONLY = "25006";

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
        return finding.code().wireName() + " (" + finding.subject() + "): " + finding.message();
    }

    /** A step after which nothing goes on by itself. */
    static AssertionError ended(String when, StepOutcome.Ended outcome) {
        return failure(
                "The backfill ended as " + outcome.state().wireName() + " instead of completed, " + when + ": "
                        + meaning(outcome.diagnostic()),
                shown(outcome.diagnostic()),
                remedy(when, outcome.diagnostic()));
    }

    /** A step that is tried again and again. */
    static AssertionError stuck(String when, StepOutcome last, Object row) {
        boolean readOnly = last instanceof StepOutcome.Retrying retrying
                && READ_ONLY.equals(retrying.diagnostic().sqlState());
        return failure(
                "The backfill makes no progress " + when + ".",
                last + "; its row: " + row,
                readOnly
                        ? "The server refused to write: a validation runs in a READ ONLY transaction. Let it read only."
                        : "A repair or validation that can't run is tried again. Find out what its SQL fails on.");
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

    private static String remedy(String when, Diagnostic diagnostic) {
        if (codes(diagnostic).contains(DiagnosticCode.VALIDATION_REJECTED)) {
            return when.equals(REFERENCE)
                    ? "The repair leaves rows out that the validation finds. Usual causes: rows that tie in the first column of a"
                            + " compound key (compare whole keys), NULLs in a condition, or a condition of the repair that is narrower"
                            + " than that of the validation."
                    : "One uninterrupted run repaired every row, and this one did not: the definition keeps state in memory from one"
                            + " call to the next, skips rows that are locked, or depends on where batches end.";
        }
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
