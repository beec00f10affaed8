package dev.backfill.testkit;

import dev.backfill.host.BackfillWorker;
import dev.backfill.host.StepOutcome;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;

/**
 * A worker that a test steps. Confined to one thread at a time.
 *
 * @since 0.1
 */
public final class HarnessWorker implements AutoCloseable {

    private final String name;
    private final BackfillWorker worker;
    private final BackfillHarness harness;
    private State state = State.WORKING;

    HarnessWorker(String name, BackfillWorker worker, BackfillHarness harness) {
        this.name = name;
        this.worker = worker;
        this.harness = harness;
    }

    private enum State {
        WORKING,
        VANISHED,
        CLOSED
    }

    /** One step: a claim if none is held, then one batch or one validation. */
    public StepOutcome step() {
        requireWorking();
        return worker.step();
    }

    /** One step on a thread of its own, for tests that hold it at a {@link Gate} meanwhile. */
    public Future<StepOutcome> stepAside() {
        requireWorking();
        CompletableFuture<StepOutcome> outcome = new CompletableFuture<>();
        Thread thread = new Thread(
                () -> {
                    try {
                        outcome.complete(worker.step());
                    } catch (RuntimeException | AssertionError e) {
                        outcome.completeExceptionally(e);
                    }
                },
                "backfill-harness-" + name);
        thread.setDaemon(true);
        thread.start();
        return outcome;
    }

    /** Dies without a word, as after kill -9: no release, no further step. Its claim stays until its lease expires. */
    public void vanish() {
        requireWorking();
        state = State.VANISHED;
    }

    /** Releases the claim, if one is held. Idempotent; a vanished worker stays vanished. */
    @Override
    public void close() {
        if (state == State.WORKING) {
            state = State.CLOSED;
            worker.close();
        }
    }

    private void requireWorking() {
        harness.requireOpen();
        if (state == State.VANISHED) {
            throw new IllegalStateException(
                    "Worker '" + name + "' has vanished and does nothing more. Take another one from the"
                            + " harness, and expire the lease if it should take over.");
        }
        if (state == State.CLOSED) {
            throw new IllegalStateException("Worker '" + name + "' was closed. Take another one from the harness.");
        }
    }
}
