package dev.backfill.postgres.conformance;

import dev.backfill.host.StepOutcome;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.FaultyConnections;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.HarnessWorker;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;

/** A step of a worker that waits right before or after a statement of the engine while the test does something else. */
final class HeldStep {

    private final Gate gate;
    private final Future<StepOutcome> outcome;

    private HeldStep(Gate gate, Future<StepOutcome> outcome) {
        this.gate = gate;
        this.outcome = outcome;
    }

    /** Waits with its work done and its fence not yet sent; holds no lock of the backfill's row. */
    static HeldStep beforeTheFence(FaultyConnections faults, HarnessWorker worker) {
        return before("lock", faults, worker);
    }

    static HeldStep before(String tag, FaultyConnections faults, HarnessWorker worker) {
        Gate gate = new Gate();
        faults.before(FaultPoint.tagged(tag), Fault.hold(gate));
        return arrived(gate, worker);
    }

    static HeldStep after(String tag, FaultyConnections faults, HarnessWorker worker) {
        Gate gate = new Gate();
        faults.after(FaultPoint.tagged(tag), Fault.hold(gate));
        return arrived(gate, worker);
    }

    private static HeldStep arrived(Gate gate, HarnessWorker worker) {
        HeldStep held = new HeldStep(gate, worker.stepAside());
        gate.awaitArrival();
        return held;
    }

    /** Lets it go on, and returns what it came to. */
    StepOutcome goOn() throws Exception {
        gate.open();
        return outcome.get(30, TimeUnit.SECONDS);
    }

    boolean isDone() {
        return outcome.isDone();
    }
}
