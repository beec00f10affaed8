package dev.backfill.postgres.internal.work;

import dev.backfill.BackfillId;
import dev.backfill.host.BackfillWorker;
import dev.backfill.host.EngineOptions;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.jdbc.Redaction;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds at most one claim and works on it step by step: a batch, a validation, or a wait. What it remembers is a hint; the row
 * decides everything. Confined to one thread at a time.
 */
public final class Worker implements BackfillWorker {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    private final String owner;
    private final Claimer claimer;
    private final BatchStep batches;
    private final WorkerValidation validation;
    private final ClaimKeeper keeper;
    private final EngineOptions options;
    private final Map<BackfillId, Pacer> pacers = new HashMap<>();
    // Looked at by others, who only want to know whether it is busy.
    private volatile @Nullable HeldClaim held;
    private boolean closed;

    /** A worker under a name for people. */
    public Worker(
            String owner,
            Claimer claimer,
            BatchStep batches,
            WorkerValidation validation,
            ClaimKeeper keeper,
            EngineOptions options) {
        this.owner = owner;
        this.claimer = claimer;
        this.batches = batches;
        this.validation = validation;
        this.keeper = keeper;
        this.options = options;
    }

    @Override
    public StepOutcome step() {
        return next().outcome();
    }

    /** One step, for whoever decides when the next one follows. */
    Step next() {
        if (closed) {
            throw new IllegalStateException("worker " + owner + " was closed; ask for another one");
        }
        HeldClaim now = held;
        if (now == null) {
            try {
                now = claimer.claim(owner).orElse(null);
            } catch (SQLException e) {
                LOG.atDebug().setCause(Redaction.of(e)).log("No claim could be looked for");
                return Step.unavailable(
                        null,
                        "PostgreSQL could not be asked for work"
                                + (e.getSQLState() == null ? "." : " (SQLSTATE " + e.getSQLState() + ")."));
            }
            if (now == null) {
                return Step.over(new StepOutcome.NothingToDo());
            }
            held = now;
        }
        Step step = now.claim().state() == BackfillState.VALIDATING
                ? validation.run(now, pacer(now))
                : batches.run(now, pacer(now));
        held = step.held();
        return step;
    }

    /** Gives up on what it holds without a word: the lease ends it, and the attempt is charged. */
    void forget() {
        held = null;
    }

    /** The backfill whose claim it holds, or null. */
    public @Nullable BackfillId holds() {
        HeldClaim now = held;
        return now == null ? null : now.id();
    }

    /** How long a worker that holds a claim may wait before its next step; null for one that holds none. */
    @Nullable
    Duration rest() {
        HeldClaim now = held;
        if (now == null) {
            return null;
        }
        Duration rest = pacer(now).rest();
        // However rarely an idle worker looks, one that holds a claim looks often enough to keep it or to give it back.
        Duration renewal = keeper.renewalEvery();
        return rest == null || rest.compareTo(renewal) > 0 ? renewal : rest;
    }

    private Pacer pacer(HeldClaim now) {
        int declared = Math.min(now.prepared().definition().batchSize(), options.batchSizeCap());
        boolean looksFurther = now.prepared().repair().firstOfLook() != null;
        Pacer pacer = pacers.computeIfAbsent(now.id(), id -> new Pacer(declared, looksFurther));
        pacer.walks(now.prepared().byIndex());
        return pacer;
    }

    @Override
    public void close() {
        closed = true;
        HeldClaim now = held;
        held = null;
        if (now != null) {
            keeper.release(now.claim());
        }
    }
}
