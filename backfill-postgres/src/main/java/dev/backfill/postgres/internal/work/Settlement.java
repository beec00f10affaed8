package dev.backfill.postgres.internal.work;

import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.batch.BatchResult;
import dev.backfill.postgres.internal.batch.FenceSql.Work;
import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.batch.OneFlush;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.ClaimSql;
import dev.backfill.postgres.internal.supervise.Pause;
import dev.backfill.spi.BackfillEvent;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Settles the unknown outcome of a COMMIT (AT-3): never interprets the error, but takes the claim anew on a fresh connection, which
 * queues behind the transaction if it is still in flight, and compares the checkpoint that comes back with the batch's own.
 * Thread-safe.
 *
 * @param transactions short ones
 * @param claims the statements
 * @param events who hears of it
 * @param lease how long a claim lasts
 * @param pause how it waits between tries
 */
public record Settlement(Transactions transactions, ClaimSql claims, Events events, Duration lease, Pause pause) {

    private static final Duration BETWEEN_TRIES = Duration.ofMillis(100);

    /** What the row says. */
    public enum Verdict {
        /** The batch is durable: the checkpoint is exactly its own, in the history in which it was sent. */
        LANDED,
        /** The batch left no trace: the checkpoint is the one that it began from, in the same history. */
        ROLLED_BACK,
        /** The row is that of another history, after a failover or a restore: work goes on from whatever it says. */
        HISTORY_CHANGED,
        /** The claim had moved on, so its new owner goes on from the truth. */
        SUPERSEDED,
        /** The row could not be asked; the lease lapses, and the next owner asks it. */
        UNKNOWN
    }

    /**
     * The verdict.
     *
     * @param verdict what the row says
     * @param claim the claim taken anew; null when there is none
     * @param work what the batch did; null where nobody can tell
     */
    record Settled(
            Verdict verdict,
            @Nullable Claim claim,
            @Nullable Work work) {}

    /** Settles what became of a batch, and says so. */
    Settled settle(HeldClaim held, BatchResult.Unknown unknown) {
        Claim claim = held.claim();
        OneFlush flush = held.prepared().flush();
        Settled settled = untilAnswered(
                claim,
                (session, anew) ->
                        unknown.work() == null && flush != null ? flush.landed(session, anew) : unknown.work());
        if (flush != null) {
            flush.recount();
        }
        events.publish(
                BackfillEvent.Kind.COMMIT_SETTLED,
                claim,
                settled.verdict().name().toLowerCase(java.util.Locale.ROOT));
        return settled;
    }

    /** Takes a claim anew once PostgreSQL answers; null if it never does, or the claim is somebody else's. */
    @Nullable
    Claim ask(Claim claim) {
        return untilAnswered(claim, (session, anew) -> null).claim();
    }

    /** Reads what a batch did that is perhaps in the row. */
    @FunctionalInterface
    private interface Reading {
        @Nullable
        Work read(Session session, Claim anew) throws SQLException;
    }

    /** Asks until PostgreSQL answers, for at most a lease: after that the claim is anybody's. */
    private Settled untilAnswered(Claim claim, Reading reading) {
        long deadline = System.nanoTime() + lease.toNanos();
        Settled settled = new Settled(Verdict.UNKNOWN, null, null);
        while (settled.verdict() == Verdict.UNKNOWN && System.nanoTime() < deadline) {
            settled = tryOnce(claim, reading);
            if (settled.verdict() == Verdict.UNKNOWN && !pause.forAtLeast(BETWEEN_TRIES)) {
                break;
            }
        }
        return settled;
    }

    private Settled tryOnce(Claim claim, Reading reading) {
        try {
            return transactions.inTransaction(session -> {
                Optional<Claim> anew = claims.reclaim(session, claim, lease);
                if (anew.isEmpty()) {
                    return new Settled(Verdict.SUPERSEDED, null, null);
                }
                Work work = reading.read(session, anew.get());
                return new Settled(verdict(claim, work, anew.get()), anew.get(), work);
            });
        } catch (SQLException e) {
            return new Settled(Verdict.UNKNOWN, null, null);
        }
    }

    /**
     * What the row says of a batch. A row that moved has not moved forward for that: a failover that lost the last batches sets it
     * back.
     *
     * @param work what the batch did; null if the row does not say that it did anything
     */
    public static Verdict verdict(Claim before, @Nullable Work work, Claim now) {
        if (!Objects.equals(now.history(), before.history())) {
            return Verdict.HISTORY_CHANGED;
        }
        if (work != null) {
            boolean reached = Objects.equals(work.checkpoint(), before.bound());
            BackfillState own = reached ? BackfillState.VALIDATING : BackfillState.RUNNING;
            if (now.state() == own && Objects.equals(now.checkpoint(), work.checkpoint())) {
                return Verdict.LANDED;
            }
        }
        return now.state() == before.state() && Objects.equals(now.checkpoint(), before.checkpoint())
                ? Verdict.ROLLED_BACK
                : Verdict.HISTORY_CHANGED;
    }
}
