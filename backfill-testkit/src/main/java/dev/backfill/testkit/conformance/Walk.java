package dev.backfill.testkit.conformance;

import dev.backfill.BackfillId;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.ValidationReport;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.HarnessWorker;
import java.util.ArrayList;
import java.util.List;

/** One engine and one worker on their way through one backfill; a worker that dies is replaced. */
final class Walk implements AutoCloseable {

    private static final int MOST_STEPS = 20_000;
    private static final int MOST_RETRIES = 20;

    private final BackfillHarness harness;
    private final BackfillId id;
    private HarnessWorker worker;

    Walk(BackfillHarness harness, BackfillId id) {
        this.harness = harness;
        this.id = id;
        this.worker = harness.worker("conformance");
    }

    BackfillHarness harness() {
        return harness;
    }

    HarnessWorker worker() {
        return worker;
    }

    BackfillId id() {
        return id;
    }

    void start() {
        ActionOutcome outcome = harness.start(id);
        if (!(outcome instanceof ActionOutcome.Applied)) {
            throw Advice.notStarted(outcome);
        }
    }

    /** A step that did something: waiting for the start barrier is none. */
    StepOutcome step() {
        List<StepOutcome> last = new ArrayList<>();
        Eventually.until("the start barrier lets backfill " + id + " begin", () -> {
            last.add(worker.step());
            return !(last.get(last.size() - 1) instanceof StepOutcome.Waits);
        });
        return last.get(last.size() - 1);
    }

    /** The worker dies with its claim, as after kill -9; its lease runs out and another one takes its place. */
    void crash() {
        worker.vanish();
        if (harness.row(id).get("claim_token") != null) {
            harness.expireLease(id);
        }
        harness.clearRetryDelay(id);
        worker = harness.worker("successor");
    }

    List<StepOutcome> startAndComplete(String when) {
        start();
        return complete(when);
    }

    /** Steps to the end, letting retry delays pass. */
    List<StepOutcome> complete(String when) {
        List<StepOutcome> outcomes = new ArrayList<>();
        int retries = 0;
        while (outcomes.size() < MOST_STEPS) {
            StepOutcome outcome = step();
            outcomes.add(outcome);
            if (outcome instanceof StepOutcome.Completed || harness.state(id) == BackfillState.COMPLETED) {
                return outcomes;
            }
            if (outcome instanceof StepOutcome.Ended ended) {
                throw Advice.ended(when, ended);
            }
            if (!(outcome instanceof StepOutcome.Committed)) {
                retries++;
                if (retries > MOST_RETRIES) {
                    throw stuck(when, outcome);
                }
                harness.clearRetryDelay(id);
            }
        }
        throw stuck(when, outcomes.get(outcomes.size() - 1));
    }

    private AssertionError stuck(String when, StepOutcome last) {
        return Advice.stuck(when, last, harness.row(id));
    }

    /** The explicit validation of a backfill that was completed. */
    ValidationReport validate() {
        return harness.validate(id);
    }

    @Override
    public void close() {
        harness.close();
    }
}
