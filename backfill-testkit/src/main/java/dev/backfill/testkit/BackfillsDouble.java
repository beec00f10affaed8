package dev.backfill.testkit;

import dev.backfill.host.BackfillWorker;
import dev.backfill.host.Backfills;
import dev.backfill.host.Readiness;
import dev.backfill.operate.BackfillOperations;

/**
 * A stand-in for a started engine, for tests of code that asks for its readiness or its operations. Override what the test needs;
 * everything else says which method was missing. Closing does nothing.
 *
 * <p>As thread-safe as what is overridden.
 *
 * @since 0.1
 */
public abstract class BackfillsDouble implements Backfills {

    /** For subclasses. */
    protected BackfillsDouble() {}

    private static UnsupportedOperationException missing(String method) {
        return new UnsupportedOperationException(
                "The code under test called Backfills." + method + "; override it in the test's BackfillsDouble.");
    }

    @Override
    public Readiness readiness() {
        throw missing("readiness");
    }

    @Override
    public BackfillOperations operations() {
        throw missing("operations");
    }

    @Override
    public BackfillWorker worker(String name) {
        throw missing("worker");
    }

    @Override
    public void requireStarted() {
        throw missing("requireStarted");
    }

    @Override
    public void close() {}
}
