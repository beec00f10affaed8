package dev.backfill.postgres.internal.supervise;

import dev.backfill.host.EngineOptions;
import dev.backfill.postgres.internal.row.Claim;
import java.time.Duration;
import java.util.concurrent.Callable;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;

/**
 * Runs a definition's code under a claim, on the worker's own thread. Code that does not come back loses its claim by a failure that is
 * recorded while the lease holds: both signs of impatience fit between the longest transaction and the end of the lease. Thread-safe.
 */
public final class CodeUnderClaim {

    private final @Nullable Supervisor supervisor;
    private final Predicate<Claim> recorded;
    private final Duration grace;

    private CodeUnderClaim(@Nullable Supervisor supervisor, Predicate<Claim> recorded, Duration grace) {
        this.supervisor = supervisor;
        this.recorded = recorded;
        this.grace = grace;
    }

    /**
     * For the engine's own threads.
     *
     * @param recorded records that the code under a claim does not come back; false while that can't be recorded
     */
    public static CodeUnderClaim supervised(Supervisor supervisor, Predicate<Claim> recorded, EngineOptions options) {
        Duration grace = options.lease().minus(options.transactionTimeout()).dividedBy(4);
        return new CodeUnderClaim(supervisor, recorded, grace);
    }

    /** For threads of a host that steps a worker: they are not ours to interrupt. */
    public static CodeUnderClaim unsupervised() {
        return new CodeUnderClaim(null, claim -> true, Duration.ZERO);
    }

    /**
     * Runs it.
     *
     * @param patience the time after which PostgreSQL 17 ends its transaction; before, only the overrun does
     * @param lent what it works with
     * @throws OverdueException if it had more than its time
     */
    public <T> T call(Claim claim, Duration patience, LentSession lent, Callable<T> code) throws Exception {
        if (supervisor == null) {
            return code.call();
        }
        return supervisor.call(
                claim.id(),
                new Deadline(patience.plus(grace), grace),
                new Overrun() {
                    @Override
                    public boolean abandon() {
                        return lent.abort();
                    }

                    @Override
                    public boolean record() {
                        return recorded.test(claim);
                    }
                },
                code);
    }
}
