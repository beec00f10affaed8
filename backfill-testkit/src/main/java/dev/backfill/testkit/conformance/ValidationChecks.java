package dev.backfill.testkit.conformance;

import dev.backfill.operate.ValidationReport;
import java.util.ArrayList;
import java.util.List;

/** What a validation owes: it accepts what is whole, rejects what is not, writes nothing, and may be asked again. */
final class ValidationChecks<K> {

    private static final int MOST_ROWS = 200;

    private final Rig<K> rig;

    ValidationChecks(Rig<K> rig) {
        this.rig = rig;
    }

    /** VA-2: repeatable and read-only. */
    void the_validation_accepts_repaired_data_again_and_writes_nothing() {
        rig.reset();
        try (Walk walk = rig.walk()) {
            walk.startAndComplete("in its own batches");
            Snapshot before = rig.data().versions();
            for (int i = 0; i < 3; i++) {
                ValidationReport report = walk.validate();
                if (!(report instanceof ValidationReport.Success)) {
                    throw Advice.failure(
                            "The validation does not stand by its word: repaired data that it accepted is not accepted again.",
                            shown(report),
                            "A validation must depend on the rows alone: keep nothing in memory between calls.");
                }
            }
            List<Change> written = before.changesTo(rig.data().versions());
            if (!written.isEmpty()) {
                throw Advice.failure(
                        "The validation writes.",
                        Change.describe(written),
                        "Read through transaction.connection() only.");
            }
        }
    }

    /** VA-1: what nobody repaired is rejected. */
    void the_validation_rejects_data_that_nobody_repaired() {
        rig.reset();
        try (Walk walk = rig.walk()) {
            walk.startAndComplete("in its own batches");
            rig.data().restore(TestData.SEED);
            ValidationReport report = walk.validate();
            if (report instanceof ValidationReport.Success) {
                throw Advice.failure(
                        "The validation proves nothing: it accepts the data as it was before the repair.",
                        "all " + rig.changes().size() + " rows that need the repair were unrepaired, and it held",
                        "Let it look for rows that are not repaired: Validation.noRowMatches(\"the condition of an unrepaired"
                                + " row\").");
            }
            rejected(report);
        }
    }

    /** VA-2: each single row counts. */
    void the_validation_rejects_any_one_row_left_unrepaired() {
        rig.reset();
        List<Change> accepted = new ArrayList<>();
        List<Change> tried = sample();
        try (Walk walk = rig.walk()) {
            walk.startAndComplete("in its own batches");
            for (Change change : tried) {
                rig.data().setRow(change.table(), change.row(), TestData.SEED);
                ValidationReport report = walk.validate();
                if (report instanceof ValidationReport.Success) {
                    accepted.add(change);
                } else {
                    rejected(report);
                }
                rig.data().setRow(change.table(), change.row(), TestData.REPAIRED);
            }
        }
        if (!accepted.isEmpty()) {
            throw Advice.failure(
                    "The validation overlooks rows: with one row left unrepaired it still holds.",
                    "it accepted " + accepted.size() + " of " + tried.size() + " such cases: "
                            + Change.describe(accepted) + lastRowHint(accepted),
                    "Every row through the bound counts: look at each of them, by the very condition that tells unrepaired rows, and"
                            + " at no sample.");
        }
    }

    private String lastRowHint(List<Change> accepted) {
        String last = rig.order().get(rig.order().size() - 1);
        boolean onlyLast = accepted.stream().allMatch(change -> change.row().equals(last));
        return onlyLast ? "\n  That is the last row: the bound is inclusive, compare with <=." : "";
    }

    private List<Change> sample() {
        List<Change> all = rig.changes().stream()
                .filter(change -> !change.table().identity().isEmpty())
                .toList();
        if (all.isEmpty()) {
            throw Advice.misuse(
                    "The repair changes only tables without a primary key, so no single row can be put back.",
                    "Give the tables of seed() the primary keys they have in production.");
        }
        int step = (all.size() + MOST_ROWS - 1) / MOST_ROWS;
        List<Change> some = new ArrayList<>();
        for (int i = 0; i < all.size(); i += step) {
            some.add(all.get(i));
        }
        return some;
    }

    private static void rejected(ValidationReport report) {
        if (!(report instanceof ValidationReport.Failure)) {
            throw Advice.failure(
                    "The validation gives no answer.",
                    shown(report),
                    "Find out what keeps it from running: time, a missing table, an error.");
        }
    }

    private static String shown(ValidationReport report) {
        if (report instanceof ValidationReport.Failure failure) {
            return "failure, " + Advice.shown(failure.diagnostic());
        }
        return report instanceof ValidationReport.CurrentState state
                ? "current state, " + state.reason().wireName()
                : report.toString();
    }
}
