package dev.backfill.postgres.internal.work;

import dev.backfill.BackfillId;
import dev.backfill.host.BackfillWorker;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.operate.Waiting;
import dev.backfill.postgres.internal.batch.BatchResult;
import dev.backfill.postgres.internal.batch.FenceSql.Work;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.Redaction;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.work.FailurePolicy.Decision;
import dev.backfill.postgres.internal.work.FailurePolicy.Kind;
import dev.backfill.spi.BackfillEvent;
import java.sql.SQLException;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds at most one claim and works on it step by step: a batch, a validation, or a wait. What it remembers is a hint; the row
 * decides everything. Confined to one thread at a time.
 */
public final class Worker implements BackfillWorker {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    private final EngineContext engine;
    private final String owner;
    private final WorkerParts parts;
    private final Map<BackfillId, Pacer> pacers = new HashMap<>();
    // Looked at by others, who only want to know whether it is busy.
    private volatile @Nullable HeldClaim held;
    private long renewedAt;
    private @Nullable String restsFor;
    private boolean closed;

    /** A worker under a name for people. */
    public Worker(EngineContext engine, WorkerParts parts, String owner) {
        this.engine = engine;
        this.parts = parts;
        this.owner = owner;
    }

    @Override
    public StepOutcome step() {
        if (closed) {
            throw new IllegalStateException("worker " + owner + " was closed; ask for another one");
        }
        HeldClaim now = held;
        if (now == null) {
            try {
                now = parts.claimer().claim(owner).orElse(null);
            } catch (SQLException e) {
                LOG.atDebug().setCause(Redaction.of(e)).log("No claim could be looked for");
                return new StepOutcome.Unavailable(
                        null,
                        "PostgreSQL could not be asked for work"
                                + (e.getSQLState() == null ? "." : " (SQLSTATE " + e.getSQLState() + ")."));
            }
            if (now == null) {
                return new StepOutcome.NothingToDo();
            }
            held = now;
            renewedAt = System.nanoTime();
        }
        return now.claim().state() == BackfillState.VALIDATING ? validate(now) : batch(now);
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
        // However rarely an idle worker looks, one that holds a claim looks often enough to keep it.
        Duration renewal = engine.options().lease().dividedBy(4);
        return rest == null || rest.compareTo(renewal) > 0 ? renewal : rest;
    }

    /** Says once why it rests, and keeps the claim meanwhile; costs no attempt. */
    private StepOutcome rests(HeldClaim now, Throttle.Reason why) {
        boolean news = !why.signal().equals(restsFor);
        restsFor = why.signal();
        if (news && why.worthAWord()) {
            engine.events()
                    .publish(
                            Events.about(BackfillEvent.Kind.THROTTLED, now.claim(), why.signal()), "why", why.detail());
            renewedAt = System.nanoTime() - engine.options().lease().toNanos();
        }
        return waits(now, Waiting.Reason.THROTTLED, why.detail());
    }

    private StepOutcome batch(HeldClaim now) {
        Pacer pacer = pacer(now);
        Optional<Throttle.Reason> rests = parts.throttle().of(now, pacer);
        if (rests.isPresent()) {
            return rests(now, rests.get());
        }
        restsFor = null;
        int limit = pacer.limit();
        BatchResult result = parts.batches().run(now, limit);
        if (result instanceof BatchResult.Committed done) {
            pacer.committed(done.pacing(), done.cost());
            return committed(
                    now,
                    now.claim().advanced(done.state(), done.work().checkpoint()),
                    done.work(),
                    done.cost().took());
        }
        if (result instanceof BatchResult.Barrier barrier) {
            return barrier(now, barrier.expired());
        }
        if (result instanceof BatchResult.NotMine) {
            held = null;
            return parts.losses().notMine(now);
        }
        if (result instanceof BatchResult.Missed missed) {
            LostClaimDiagnosis.Found found = parts.losses().find(now, missed);
            if (found.breach() == null) {
                held = null;
                return java.util.Objects.requireNonNull(found.outcome());
            }
            return failed(now, found.breach(), limit);
        }
        if (result instanceof BatchResult.Unknown unknown) {
            return settle(now, unknown, limit);
        }
        return failed(now, ((BatchResult.Failed) result).cause(), limit);
    }

    /** Without {@code work} it is not known how many rows were in it. */
    private StepOutcome committed(HeldClaim before, Claim after, @Nullable Work work, @Nullable Duration took) {
        held = before.with(after);
        renewedAt = System.nanoTime();
        boolean reached = after.state() == BackfillState.VALIDATING;
        engine.events()
                .publish(counted(
                        Events.about(BackfillEvent.Kind.BATCH_COMMITTED, after, null)
                                .took(took),
                        work));
        if (reached) {
            engine.events().publish(BackfillEvent.Kind.VALIDATING, after, null);
        }
        return new StepOutcome.Committed(
                after.id(), work == null ? 0 : work.scanned(), work == null ? 0 : work.changed(), reached);
    }

    private static BackfillEvent counted(BackfillEvent event, @Nullable Work work) {
        return work == null ? event : event.rows(work.scanned(), work.changed());
    }

    private StepOutcome failed(HeldClaim now, Throwable cause, int limit) {
        if (parts.isClosing() && isInterruption(cause)) {
            return interrupted(now);
        }
        Decision decision = parts.policy().ofBatch(cause, now.claim(), limit);
        if (decision.kind() == Kind.BLOCK
                && decision.diagnostic().code().equals(DiagnosticCode.DATA_ERROR.wireName())) {
            decision = parts.poison().named(now, decision);
        }
        LOG.atDebug()
                .setCause(Redaction.of(cause))
                .addKeyValue("backfill", now.id())
                .log("A batch failed");
        if (decision.tooSlow() || decision.kind() == Kind.NARROW) {
            pacer(now).narrow(limit);
        }
        StepOutcome outcome = parts.recorder().record(now.claim(), decision);
        if (decision.kind() != Kind.NARROW || !(outcome instanceof StepOutcome.Retrying)) {
            held = null;
        }
        return outcome;
    }

    private static boolean isInterruption(Throwable cause) {
        for (Throwable t = cause; t != null; t = t.getCause()) {
            if (t instanceof InterruptedException || t instanceof java.nio.channels.ClosedByInterruptException) {
                return true;
            }
        }
        return Thread.currentThread().isInterrupted();
    }

    /** The engine closes and its patience is over: the repair did not fail, so nothing is charged (RB-5). */
    private StepOutcome interrupted(HeldClaim now) {
        // A pool would refuse a connection to an interrupted thread.
        Thread.interrupted();
        close();
        Thread.currentThread().interrupt();
        return new StepOutcome.Unavailable(
                now.id(), "The engine was closed during a batch of backfill " + now.id() + "; it was rolled back.");
    }

    private StepOutcome settle(HeldClaim now, BatchResult.Unknown unknown, int limit) {
        Settlement.Settled settled = parts.settlement().settle(now.claim());
        Claim anew = settled.claim();
        if (anew == null) {
            held = null;
            return settled.verdict() == Settlement.Verdict.SUPERSEDED
                    ? parts.losses().notMine(now)
                    : new StepOutcome.Unavailable(
                            now.id(),
                            "The outcome of a COMMIT of backfill " + now.id()
                                    + " could not be asked; its claim lapses and the next owner reads the truth.");
        }
        held = now.with(anew);
        if (settled.verdict() != Settlement.Verdict.LANDED) {
            return failed(now.with(anew), unknown.cause(), limit);
        }
        Work work = unknown.work() == null ? parts.batches().landed(now, anew) : unknown.work();
        return committed(now, anew, work, null);
    }

    private StepOutcome barrier(HeldClaim now, boolean expired) {
        if (!expired) {
            String detail = parts.barrier().describe(now.claim());
            engine.events()
                    .publish(Events.about(BackfillEvent.Kind.BARRIER_WAIT, now.claim(), null), "waits_for", detail);
            return waits(now, Waiting.Reason.START_BARRIER, detail);
        }
        held = null;
        return parts.barrier().overdue(parts.recorder(), now.claim());
    }

    /** Keeps the claim while it waits, and tells the row why; renews well before half of the lease is over. */
    private StepOutcome waits(HeldClaim now, Waiting.Reason reason, String detail) {
        long lease = engine.options().lease().toNanos();
        boolean firstOfIts = reason != Waiting.Reason.THROTTLED;
        if (firstOfIts || System.nanoTime() - renewedAt > lease / 4) {
            try {
                boolean renewed = engine.control()
                        .inTransaction(s -> engine.sql()
                                .claims()
                                .renew(s, now.claim(), engine.options().lease(), reason.wireName(), detail));
                renewedAt = System.nanoTime();
                if (!renewed) {
                    held = null;
                    return parts.losses().notMine(now);
                }
                engine.events().publish(BackfillEvent.Kind.RENEWED, now.claim(), null);
            } catch (SQLException e) {
                return new StepOutcome.Unavailable(
                        now.id(), "The claim of backfill " + now.id() + " could not be renewed.");
            }
        }
        return new StepOutcome.Waits(now.id(), reason);
    }

    private StepOutcome validate(HeldClaim now) {
        StepOutcome outcome = parts.validation().run(now);
        if (outcome instanceof StepOutcome.Waits waits) {
            String detail = waits.reason() == Waiting.Reason.START_BARRIER
                    ? parts.barrier().describe(now.claim())
                    : "Another validation of this backfill is under way; this one waits for it.";
            return waits(now, waits.reason(), detail);
        }
        held = null;
        return outcome;
    }

    private Pacer pacer(HeldClaim now) {
        int declared = Math.min(
                now.prepared().definition().batchSize(), engine.options().batchSizeCap());
        return pacers.computeIfAbsent(now.id(), id -> new Pacer(declared));
    }

    @Override
    public void close() {
        closed = true;
        HeldClaim now = held;
        held = null;
        if (now == null) {
            return;
        }
        try {
            if (engine.control().inTransaction(s -> engine.sql().claims().release(s, now.claim()))) {
                engine.events().publish(BackfillEvent.Kind.RELEASED, now.claim(), null);
            }
        } catch (SQLException e) {
            LOG.atInfo()
                    .addKeyValue("backfill", now.id())
                    .log("A claim could not be released; it lapses with its lease");
        }
    }
}
