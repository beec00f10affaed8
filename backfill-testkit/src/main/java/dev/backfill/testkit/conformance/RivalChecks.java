package dev.backfill.testkit.conformance;

import dev.backfill.host.StepOutcome;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.FaultyConnections;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Set;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** What others do to the rows while the backfill runs. */
final class RivalChecks<K> {

    private final Rig<K> rig;
    private final RunChecks<K> run;

    RivalChecks(Rig<K> rig, RunChecks<K> run) {
        this.rig = rig;
        this.run = run;
    }

    /** SR-3: rows come and go below the bound, on both sides of the checkpoint, the checkpoint's and the bound's own included. */
    void rows_may_be_inserted_and_deleted_below_the_bound() {
        if (!rig.subject().independentRows() || !rig.changesOnlySource()) {
            return;
        }
        rig.reset();
        TestData data = rig.data();
        DataTable source = data.source();
        List<String> order = rig.order();
        String behind = order.get(0);
        String atCheckpoint = order.get(1);
        String ahead = order.get(order.size() - 2);
        String atBound = order.get(order.size() - 1);
        Set<String> deleted = Set.of(atCheckpoint, order.get(2), atBound);
        data.removeRow(source, behind);
        data.removeRow(source, ahead);
        String when = "while rows were inserted and deleted below the bound";
        try (Walk walk = rig.walk(rig.subject().definition(), 1, rig.connections())) {
            walk.start();
            StepOutcome first = walk.step();
            if (first instanceof StepOutcome.Ended ended) {
                throw Advice.ended("in its first batch", ended);
            }
            // Behind the checkpoint only normal writers insert, and those keep the postcondition (ID-7).
            data.setRow(source, behind, TestData.REPAIRED);
            data.setRow(source, ahead, TestData.SEED);
            deleted.forEach(row -> data.removeRow(source, row));
            walk.complete(when);
        }
        List<Change> differences = rig.repaired().without(source, deleted).changesTo(data.snapshot());
        if (!differences.isEmpty()) {
            throw Advice.failure(
                    "The repair goes wrong where rows come and go.",
                    when + ", the result differs in " + Change.describe(differences),
                    "Don't count rows and don't expect that all keys of a window still have a row. If what becomes of a row depends on"
                            + " other rows, say so: override rowsAreIndependent().");
        }
    }

    /** Locks: a writer that takes the same rows in reverse order is never the victim, and no row it held is skipped. */
    void a_writer_that_takes_the_rows_in_reverse_order_wins() throws Exception {
        List<Change> changed = changedInSource();
        List<String> order = rig.order().stream()
                .skip(1)
                .filter(row -> changed.stream().anyMatch(change -> change.row().equals(row)))
                .toList();
        if (order.size() < 2) {
            return;
        }
        rig.reset();
        firstBatchOfOne();
        String when = "while a writer held rows of the window and took more of them in reverse order";
        try (Walk walk = rig.walk(rig.subject().inBatchesOf(rig.order().size()));
                Connection writer = rig.database().get()) {
            writer.setAutoCommit(false);
            lock(writer, order.get(order.size() - 1));
            Future<StepOutcome> batch = walk.worker().stepAside();
            Eventually.until("the batch waits for the writer or ends", () -> batch.isDone() || someoneWaits());
            lockAsApplication(writer, order.get(0));
            writer.commit();
            StepOutcome outcome = batch.get(60, TimeUnit.SECONDS);
            if (outcome instanceof StepOutcome.Ended ended) {
                throw Advice.ended(when, ended);
            }
            walk.complete(when
                    + " (rows that are locked must be waited for: a row skipped with SKIP LOCKED is never met again)");
        }
        run.sameData(
                "The repair skips rows that others hold.",
                when,
                "Wait for locked rows: FOR NO KEY UPDATE without SKIP LOCKED. A row that a batch skips is behind the checkpoint, and"
                        + " nobody comes back to it.");
    }

    /** Past the start barrier: a writer that was there before the first batch would hold the backfill up, not its rows. */
    private void firstBatchOfOne() {
        try (Walk walk = rig.walk(rig.subject().definition(), 1, rig.connections())) {
            walk.start();
            StepOutcome first = walk.step();
            if (first instanceof StepOutcome.Ended ended) {
                throw Advice.ended("in its first batch", ended);
            }
        }
    }

    private List<Change> changedInSource() {
        return rig.changes().stream()
                .filter(change ->
                        change.table().equals(rig.data().source()) && !change.isInsert() && !change.isDelete())
                .toList();
    }

    private void lock(Connection writer, String row) throws SQLException {
        DataTable source = rig.data().source();
        try (PreparedStatement statement = writer.prepareStatement(
                "select 1 from " + source.name() + " s where " + source.identityOf("s") + " = ? for update")) {
            statement.setString(1, row);
            statement.execute();
        }
    }

    private void lockAsApplication(Connection writer, String row) {
        try {
            lock(writer, row);
        } catch (SQLException e) {
            throw Advice.failure(
                    "The application pays for the repair: a writer was sacrificed in a conflict over locks.",
                    "SQLSTATE " + e.getSQLState(),
                    "Take locks in the order of the key, and leave lock_timeout as the engine sets it, so that the repair gives up"
                            + " first.");
        }
    }

    private boolean someoneWaits() {
        return rig.database()
                .queryBoolean("select exists (select from pg_stat_activity where datname = current_database()"
                        + " and wait_event_type = 'Lock')");
    }

    /** What is computed from rows holds them: a write in between is neither lost nor ignored. */
    void a_write_between_two_statements_of_a_batch_is_not_lost() {
        LiveWrite write = LiveWrite.choose(rig);
        if (write == null || !rig.subject().independentRows()) {
            return;
        }
        rig.reset();
        write.run();
        try (Walk walk = rig.walk()) {
            walk.startAndComplete("over rows that were exchanged");
        }
        Snapshot expected = rig.data().snapshot();
        for (Conversation.Place place :
                Conversation.of(rig, rig.order().size() + 1).insideTheFirstBatch()) {
            writeAt(place, write, expected);
        }
    }

    private void writeAt(Conversation.Place place, LiveWrite write, Snapshot expected) {
        rig.reset();
        FaultyConnections faults = FaultyConnections.over(rig.connections());
        String when = "when a writer changed a row " + place;
        boolean[] written = new boolean[1];
        try (Walk walk = rig.walk(rig.subject().inBatchesOf(rig.order().size() + 1), Integer.MAX_VALUE, faults)) {
            walk.start();
            faults.restart();
            faults.before(FaultPoint.exchange(place.number()), Fault.run(() -> written[0] = write.run()));
            StepOutcome first = walk.step();
            if (first instanceof StepOutcome.Ended ended) {
                throw Advice.ended(when, ended);
            }
            walk.complete(when);
        }
        List<Change> differences =
                (written[0] ? expected : rig.repaired()).changesTo(rig.data().snapshot());
        if (!differences.isEmpty()) {
            throw Advice.failure(
                    "The repair computes from rows that it has not locked: a write in between is lost or ignored.",
                    when + ", the result is wrong in " + Change.describe(differences),
                    "Lock what you compute from, in key order: SELECT … WHERE id = ANY(?) ORDER BY id FOR NO KEY UPDATE. Or compute in"
                            + " the UPDATE itself, or use RowRepair, which locks for you.");
        }
    }
}
