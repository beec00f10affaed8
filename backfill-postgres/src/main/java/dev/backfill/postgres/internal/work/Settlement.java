package dev.backfill.postgres.internal.work;

import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.batch.BatchResult;
import dev.backfill.postgres.internal.batch.FenceSql.Work;
import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.batch.OneFlush;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.ClaimSql;
import dev.backfill.postgres.internal.supervise.Pause;
import dev.backfill.spi.BackfillEvent;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
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
     */
    record Settled(Verdict verdict, @Nullable Claim claim) {}

    /** Settles what became of a batch, and says so. */
    Settled settle(Claim claim, @Nullable Work work) {
        Settled settled = ask(claim, work);
        events.publish(
                BackfillEvent.Kind.COMMIT_SETTLED,
                claim,
                settled.verdict().name().toLowerCase(java.util.Locale.ROOT));
        return settled;
    }

    /** Asks until PostgreSQL answers, for at most a lease: after that the claim is anybody's. */
    Settled ask(Claim claim, @Nullable Work work) {
        long deadline = System.nanoTime() + lease.toNanos();
        Settled settled = new Settled(Verdict.UNKNOWN, null);
        while (settled.verdict() == Verdict.UNKNOWN && System.nanoTime() < deadline) {
            settled = tryOnce(claim, work);
            if (settled.verdict() == Verdict.UNKNOWN && !pause.forAtLeast(BETWEEN_TRIES)) {
                break;
            }
        }
        return settled;
    }

    /** What a batch did that has landed without an answer; null if nobody can tell. */
    @Nullable
    Work work(HeldClaim held, BatchResult.Unknown unknown, Claim anew) {
        OneFlush flush = held.prepared().flush();
        if (unknown.work() != null || flush == null) {
            return unknown.work();
        }
        try {
            return transactions.inTransaction(session -> flush.landed(session, anew));
        } catch (SQLException e) {
            return null;
        }
    }

    private Settled tryOnce(Claim claim, @Nullable Work work) {
        try {
            Optional<Claim> anew = transactions.inTransaction(s -> claims.reclaim(s, claim, lease));
            if (anew.isEmpty()) {
                return new Settled(Verdict.SUPERSEDED, null);
            }
            return new Settled(verdict(claim, work, anew.get()), anew.get());
        } catch (SQLException e) {
            return new Settled(Verdict.UNKNOWN, null);
        }
    }

    /** A row that moved has not moved forward for that: a failover that lost the last batches sets it back. */
    public static Verdict verdict(Claim before, @Nullable Work work, Claim now) {
        if (!Objects.equals(now.history(), before.history())) {
            return Verdict.HISTORY_CHANGED;
        }
        // Of a batch whose page only the server knew: in the same history, under the same claim, nobody else can have
        // moved the row.
        List<String> checkpoint = work == null ? now.checkpoint() : work.checkpoint();
        boolean moved = !Objects.equals(now.checkpoint(), before.checkpoint());
        boolean reached = Objects.equals(checkpoint, before.bound());
        BackfillState own = reached ? BackfillState.VALIDATING : BackfillState.RUNNING;
        if (now.state() == own && Objects.equals(now.checkpoint(), checkpoint) && (work != null || moved)) {
            return Verdict.LANDED;
        }
        return now.state() == before.state() && Objects.equals(now.checkpoint(), before.checkpoint())
                ? Verdict.ROLLED_BACK
                : Verdict.HISTORY_CHANGED;
    }
}
