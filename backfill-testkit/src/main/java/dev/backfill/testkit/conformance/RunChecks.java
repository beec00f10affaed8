package dev.backfill.testkit.conformance;

import dev.backfill.host.StepOutcome;
import java.util.HashSet;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;

/** What an orderly run owes: the same result however it is cut into batches, nothing outside a window, nothing done twice. */
final class RunChecks<K> {

    private final Rig<K> rig;

    RunChecks(Rig<K> rig) {
        this.rig = rig;
    }

    /** BB-1, SR-3: batch boundaries mean nothing. */
    void the_batch_size_makes_no_difference() {
        Set<Integer> sizes = new LinkedHashSet<>(
                List.of(1, 2, rig.fewBatches(), rig.subject().definition().batchSize()));
        for (int size : sizes) {
            rig.reset();
            String when = "in batches of " + size;
            try (Walk walk = rig.walk(rig.subject().definition(), size, rig.connections())) {
                walk.startAndComplete(when);
            }
            sameData(
                    "The repair depends on where batches end.",
                    when + " instead of one batch",
                    "Compute each row from the row (or from rows that don't change), not from its place in the batch, from the other"
                            + " keys of the batch, from random values or from the clock; with compound keys compare whole keys, or"
                            + " rows that tie in the first column are skipped. A column that is meant to differ from run to run"
                            + " belongs into ignoredColumns().");
        }
    }

    /** AT-1: what a run reports is what it did. */
    void the_counts_that_operators_see_are_true() {
        if (!rig.changesOnlySource() || !rig.subject().ignored().isEmpty()) {
            return;
        }
        rig.reset();
        long reported = 0;
        try (Walk walk = rig.walk()) {
            for (StepOutcome outcome : walk.startAndComplete("in its own batches")) {
                reported += outcome instanceof StepOutcome.Committed done ? done.rowsChanged() : 0;
            }
        }
        int changed = rig.changes().size();
        if (reported != changed && rig.subject().tellsDoneRows()) {
            throw Advice.failure(
                    "The repair reports another number of changed rows than it changed.",
                    reported + " reported, " + changed + " changed",
                    "Return the sum of the update counts from the repair; operators watch that number. Rows rewritten with the"
                            + " values they had count as changed: leave them out by a condition.");
        }
    }

    /** SR-7: nothing on a second pass. */
    void a_second_pass_writes_nothing() {
        if (!rig.subject().tellsDoneRows()) {
            return;
        }
        rig.data().reset(TestData.REPAIRED);
        Snapshot before = rig.data().versions();
        try (Walk walk = rig.walk(rig.subject().onceMore())) {
            walk.startAndComplete("in a second pass over repaired data");
        }
        List<Change> rewritten = before.changesTo(rig.data().versions());
        if (!rewritten.isEmpty()) {
            throw Advice.failure(
                    "The repair rewrites rows that are done.",
                    "a second pass made new versions of " + Change.describe(rewritten),
                    "State which rows still need the repair, with .where(...) or in your UPDATE's WHERE clause. Rewriting done rows"
                            + " bloats the table, fires triggers, and overwrites what newer writers put there.");
        }
    }

    /** SR-3, BB-1: a batch stays inside its window. */
    void a_batch_changes_rows_of_its_window_only() {
        int size = rig.fewBatches();
        rig.reset();
        try (Walk walk = rig.walk(rig.subject().definition(), size, rig.connections())) {
            walk.start();
            StepOutcome first = walk.step();
            if (first instanceof StepOutcome.Ended ended) {
                throw Advice.ended("in its first batch", ended);
            }
        }
        Set<String> window = new HashSet<>(rig.order().subList(0, size));
        List<Change> outside = rig.seeded().changesTo(rig.data().snapshot()).stream()
                .filter(change -> change.table().equals(rig.data().source()))
                .filter(change -> !window.contains(change.row()))
                .toList();
        if (!outside.isEmpty()) {
            throw Advice.failure(
                    "The repair is not bounded: it changes rows outside its window.",
                    "a batch of " + size + " keys changed, beyond them, " + Change.describe(outside),
                    "Limit every statement to batch.keys(), for instance WHERE id = ANY(?). Work outside the window makes batches"
                            + " unbounded, takes locks nobody expects, and is done again by a later batch.");
        }
    }

    /** SR-3: keys stay where they are, and the source does not grow. */
    void the_keys_of_the_source_stay_as_they_are() {
        List<Change> moved = rig.changes().stream()
                .filter(change -> change.table().equals(rig.data().source()))
                .filter(Change::isInsert)
                .toList();
        if (!moved.isEmpty()) {
            throw Advice.failure(
                    "The repair changes keys of its own source, or inserts rows into it.",
                    "these keys were not there before: " + Change.describe(moved),
                    "A key must not move while it is walked: rows would be met twice or never. Order by another key, or write new"
                            + " rows to another table.");
        }
    }

    /** SR-5: rows beyond the bound belong to others. */
    void rows_beyond_the_bound_are_left_alone() {
        rig.reset();
        DataTable source = rig.data().source();
        String last = rig.order().get(rig.order().size() - 1);
        rig.data().removeRow(source, last);
        try (Walk walk = rig.walk(rig.subject().definition(), rig.fewBatches(), rig.connections())) {
            walk.start();
            rig.data().setRow(source, last, TestData.SEED);
            try {
                walk.complete("while a row beyond the bound is not repaired");
            } catch (AssertionError e) {
                throw Advice.failure(
                        "The validation looks past the bound.",
                        "a row inserted after the start, beyond the bound, kept the backfill from completing: "
                                + e.getMessage(),
                        "Add transaction.withinBound(\"alias\") to every query of the validation, or use"
                                + " Validation.noRowMatches(...), which does that.");
            }
        }
        String now = rig.data().snapshot().content(source, last);
        if (!java.util.Objects.equals(now, rig.seeded().content(source, last))) {
            throw Advice.failure(
                    "The repair changes rows beyond the bound.",
                    "a row inserted after the start was changed to " + now,
                    "Limit every statement to batch.keys(); rows beyond the bound belong to normal writers.");
        }
    }

    /** LC-5: an empty source completes. */
    void an_empty_source_completes() {
        rig.reset();
        for (String row : rig.order()) {
            rig.data().removeRow(rig.data().source(), row);
        }
        try (Walk walk = rig.walk()) {
            walk.startAndComplete("over an empty source (a validation must accept one: its bound() is empty then)");
        }
    }

    /** Compares with the reference run. */
    void sameData(String fault, String when, String remedy) {
        List<Change> differences = rig.repaired().changesTo(rig.data().snapshot());
        if (!differences.isEmpty()) {
            throw Advice.failure(
                    fault,
                    when + ", the result differs from that of one uninterrupted run in " + Change.describe(differences),
                    remedy);
        }
    }
}
