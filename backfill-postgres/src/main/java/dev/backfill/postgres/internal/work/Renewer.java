package dev.backfill.postgres.internal.work;

import dev.backfill.host.EngineOptions;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.supervise.Supervisor;
import java.sql.SQLException;
import java.time.Duration;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Renews the claim beside a validation, until a hard deadline: a renewal without one would keep an endless loop alive for ever.
 * Batches need none, because each commit renews. Thread-safe; owns one thread.
 */
public final class Renewer implements AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    private final ClaimKeeper keeper;
    private final Duration every;
    private final Duration longest;
    private final ScheduledExecutorService timer;

    /** Renews through the keeper, as long as a validation may take. */
    public Renewer(ClaimKeeper keeper, EngineOptions options, String processName) {
        this.keeper = keeper;
        this.every = options.lease().dividedBy(3);
        this.longest = options.validationTimeout().plus(options.lease());
        this.timer = Supervisor.timer("backfill-renewer-" + processName);
    }

    /** Renews until ended, or until the validation's time is over. */
    Renewal keep(Claim claim) {
        long deadline = System.nanoTime() + longest.toNanos();
        ScheduledFuture<?> task = timer.scheduleWithFixedDelay(
                () -> renewUntil(claim, deadline), every.toMillis(), every.toMillis(), TimeUnit.MILLISECONDS);
        return () -> task.cancel(false);
    }

    private void renewUntil(Claim claim, long deadline) {
        if (System.nanoTime() - deadline > 0) {
            throw new IllegalStateException("the validation's time is over");
        }
        if (!renew(claim)) {
            throw new IllegalStateException("the claim is lost");
        }
    }

    /** Renews once; false only when PostgreSQL says that the claim is not ours any more. */
    private boolean renew(Claim claim) {
        try {
            boolean renewed = keeper.renew(claim, null, null);
            if (!renewed) {
                // A renewal that meets the end of its own validation looks the same as a lost claim: whoever records
                // the outcome finds out which, and reports it once.
                LOG.atDebug().addKeyValue("backfill", claim.id()).log("A renewal came too late");
            }
            return renewed;
        } catch (SQLException | RuntimeException e) {
            // Of PostgreSQL or of the host's source of connections. Unknown is not lost: the next tick, or the fence of
            // the completion, finds out.
            return true;
        }
    }

    @Override
    public void close() {
        timer.shutdownNow();
    }

    /** One running renewal. */
    @FunctionalInterface
    interface Renewal {
        /** No more renewals. */
        void end();
    }
}
