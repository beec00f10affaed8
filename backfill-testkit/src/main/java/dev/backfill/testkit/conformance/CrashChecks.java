package dev.backfill.testkit.conformance;

import dev.backfill.host.StepOutcome;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.FaultyConnections;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.HarnessWorker;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** What crashes and stale owners may not spoil. */
final class CrashChecks<K> {

    private static final String REMEDY =
            "Do everything through transaction.connection(), and derive everything from the window and"
                    + " the database: keep nothing in memory from one call to the next, use no connection of your own, and don't assume"
                    + " that a call that returned was committed. A window may be repaired again after a rollback.";

    private final Rig<K> rig;
    private final RunChecks<K> run;

    CrashChecks(Rig<K> rig, RunChecks<K> run) {
        this.rig = rig;
        this.run = run;
    }

    /** AT-1, CL-5: a crash before or after any statement or COMMIT leaves a whole batch or none, and the next owner resumes right. */
    void a_crash_at_any_boundary_leaves_a_whole_batch_or_none() {
        for (Conversation.Place place : Conversation.of(rig, rig.fewBatches()).worthCrashingAt()) {
            crashAt(place);
        }
    }

    private void crashAt(Conversation.Place place) {
        rig.reset();
        FaultyConnections faults = FaultyConnections.over(rig.connections());
        String when = "cut " + place;
        try (Walk walk = rig.walk(rig.subject().definition(), rig.fewBatches(), faults)) {
            walk.start();
            faults.restart();
            if (place.before()) {
                faults.before(FaultPoint.exchange(place.number()), Fault.cut());
            } else {
                faults.after(FaultPoint.exchange(place.number()), Fault.cut());
            }
            if (stepUntilStruck(walk, faults, when)) {
                walk.crash();
                walk.complete("after a crash (" + when + ")");
            }
        }
        run.sameData("The repair does not survive a crash.", when, REMEDY);
    }

    /** Whether it was struck before all was done. */
    private boolean stepUntilStruck(Walk walk, FaultyConnections faults, String when) {
        while (faults.struck() == 0) {
            Snapshot previous = rig.data().snapshot();
            Object checkpoint = String.valueOf(walk.harness().row(walk.id()).get("checkpoint"));
            StepOutcome outcome = walk.step();
            if (faults.struck() > 0
                    && Objects.equals(
                            checkpoint,
                            String.valueOf(walk.harness().row(walk.id()).get("checkpoint")))) {
                nothingSurvived(previous, when);
            }
            if (faults.struck() == 0 && outcome instanceof StepOutcome.Completed) {
                return false;
            }
            if (outcome instanceof StepOutcome.Ended ended) {
                throw Advice.ended("while waiting for a crash (" + when + ")", ended);
            }
        }
        return true;
    }

    private void nothingSurvived(Snapshot previous, String when) {
        List<Change> survived = previous.changesTo(rig.data().snapshot());
        if (!survived.isEmpty()) {
            throw Advice.failure(
                    "Changes of the repair survive the rollback of their batch.",
                    when + ", the checkpoint did not move, but these changes stayed: " + Change.describe(survived),
                    REMEDY);
        }
    }

    /** AT-1: every batch is interrupted once, right before its fence. */
    void every_batch_may_be_interrupted_once() {
        rig.reset();
        FaultyConnections faults = FaultyConnections.over(rig.connections());
        String when = "with every batch interrupted once before its end";
        try (Walk walk = rig.walk(rig.subject().definition(), rig.fewBatches(), faults)) {
            walk.start();
            for (int done = 0; done < rig.order().size(); done += rig.fewBatches()) {
                faults.before(FaultPoint.tagged("fence"), Fault.cut());
                Snapshot previous = rig.data().snapshot();
                StepOutcome outcome = walk.step();
                if (outcome instanceof StepOutcome.Ended ended) {
                    throw Advice.ended(when, ended);
                }
                nothingSurvived(previous, when);
                faults.heal();
                walk.crash();
                walk.step();
            }
            walk.complete(when);
        }
        run.sameData("The repair does not survive an interruption.", when, REMEDY);
    }

    /** CL-2, CL-6: an owner that slept past its lease wakes up when all is done, and changes nothing. */
    void a_zombie_owner_changes_nothing() throws Exception {
        rig.reset();
        FaultyConnections faults = FaultyConnections.over(rig.connections());
        String when = "after a stale owner woke up when another one had finished";
        try (Walk walk = rig.walk(rig.subject().definition(), rig.fewBatches(), faults)) {
            walk.start();
            Gate gate = new Gate();
            // Before its repair, where it holds no lock of a row: later, the new owner would wait for it. Only the
            // first
            // batch looks at its claim and repairs in two exchanges.
            faults.after(FaultPoint.tagged("begin"), Fault.hold(gate));
            HarnessWorker zombie = walk.worker();
            Future<StepOutcome> stale = zombie.stepAside();
            gate.awaitArrival();
            walk.crash();
            walk.complete(when);
            gate.open();
            StepOutcome outcome = stale.get(60, TimeUnit.SECONDS);
            if (outcome instanceof StepOutcome.Committed) {
                throw new AssertionError("The engine let a stale owner commit: " + outcome);
            }
        }
        run.sameData("The repair of a stale owner, which was rolled back, left traces.", when, REMEDY);
    }

    /** LC-4: a pause that lands during a batch rolls it back, and the resumed run is whole. */
    void a_pause_during_a_batch_costs_nothing() throws Exception {
        rig.reset();
        FaultyConnections faults = FaultyConnections.over(rig.connections());
        String when = "after a pause during a batch, and a resume";
        try (Walk walk = rig.walk(rig.subject().definition(), rig.fewBatches(), faults)) {
            walk.start();
            Gate gate = new Gate();
            faults.before(FaultPoint.tagged("fence"), Fault.hold(gate));
            Future<StepOutcome> batch = walk.worker().stepAside();
            gate.awaitArrival();
            walk.harness().pause(walk.id());
            gate.open();
            batch.get(60, TimeUnit.SECONDS);
            nothingSurvived(rig.seeded(), when);
            walk.harness().resume(walk.id());
            walk.complete(when);
        }
        run.sameData("The repair does not survive a pause.", when, REMEDY);
    }
}
