package dev.backfill.testkit;

import dev.backfill.BackfillId;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.locks.LockSupport;

/** Steps a worker until a backfill is completed, letting retry delays pass. */
final class Run {

    private static final int MOST_STEPS = 100_000;
    private static final int MOST_RETRIES = 1_000;
    private static final long BARRIER_LIMIT = Duration.ofSeconds(30).toNanos();

    private final BackfillHarness harness;
    private final HarnessWorker worker;
    private final BackfillId id;
    private final List<StepOutcome> outcomes = new ArrayList<>();
    private int retries;

    Run(BackfillHarness harness, HarnessWorker worker, BackfillId id) {
        this.harness = harness;
        this.worker = worker;
        this.id = id;
    }

    List<StepOutcome> toCompletion() {
        long waitingSince = System.nanoTime();
        while (outcomes.size() < MOST_STEPS) {
            StepOutcome outcome = worker.step();
            if (outcome instanceof StepOutcome.Waits) {
                if (System.nanoTime() - waitingSince > BARRIER_LIMIT) {
                    throw stuck("It waits and waits: " + outcome);
                }
                LockSupport.parkNanos(Duration.ofMillis(5).toNanos());
                continue;
            }
            waitingSince = System.nanoTime();
            outcomes.add(outcome);
            if (outcome instanceof StepOutcome.Completed done && done.id().equals(id)) {
                return outcomes;
            }
            goOnAfter(outcome);
            if (harness.state(id) == BackfillState.COMPLETED) {
                return outcomes;
            }
        }
        throw stuck("It took more than " + MOST_STEPS + " steps");
    }

    private void goOnAfter(StepOutcome outcome) {
        if (outcome instanceof StepOutcome.Ended || outcome instanceof StepOutcome.NothingToDo) {
            if (harness.state(id) != BackfillState.COMPLETED) {
                throw stuck("A step ended with " + outcome);
            }
        } else if (!(outcome instanceof StepOutcome.Committed)) {
            retries++;
            if (retries > MOST_RETRIES) {
                throw stuck("After " + MOST_RETRIES + " retries a step still ended with " + outcome);
            }
            harness.clearRetryDelay(id);
        }
    }

    private AssertionError stuck(String what) {
        return new AssertionError("Backfill " + id + " was not completed. " + what + ". Its row: " + harness.row(id));
    }
}
