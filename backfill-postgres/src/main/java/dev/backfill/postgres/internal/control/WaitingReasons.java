package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillId;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Waiting;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.row.Readability;
import dev.backfill.postgres.internal.supervise.Supervisor;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.Locale;
import java.util.Objects;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The one answer to "why is it not moving?", most specific first (RM-2). Thread-safe.
 *
 * @param allBusy whether every worker of this process holds a claim
 * @param supervisor knows from whose code threads do not come back (BB-2)
 */
public record WaitingReasons(BooleanSupplier allBusy, Supervisor supervisor) {

    // A batch that is slower than this looks like a stand-still to an operator, so the claim is worth a word.
    private static final Duration QUIET = Duration.ofSeconds(15);

    /** The answer for one row, as this process could read it. */
    @Nullable
    Waiting of(ResultSet row, BackfillState state, Readability judged) throws SQLException {
        if (!state.isWorking()) {
            return null;
        }
        if (row.getBoolean("read_only")) {
            return new Waiting(
                    Waiting.Reason.READ_ONLY,
                    "This server is a standby, or default_transaction_read_only is on for the database, the role or the session.",
                    null);
        }
        boolean held = row.getBoolean("unexpired");
        int waiter = row.getInt("waiter");
        if (waiter != 0) {
            int blocker = row.getInt("blocker");
            return new Waiting(
                    Waiting.Reason.LOCK_WAIT,
                    "Process " + waiter + " of the owner waits for a lock"
                            + (blocker == 0
                                    ? "."
                                    : " that process " + blocker + " holds or waits for" + age(row) + "."),
                    Values.instant(row, "waits_since"));
        }
        Waiting stored = stored(row, held);
        if (stored != null) {
            return stored;
        }
        return held ? heldQuietly(row, state) : unclaimed(row, judged);
    }

    private static String age(ResultSet row) throws SQLException {
        Long age = Values.bigint(row, "blocker_age");
        return age == null ? "" : "; its transaction is open for " + age + " s";
    }

    private static @Nullable Waiting stored(ResultSet row, boolean held) throws SQLException {
        String reason = row.getString("wait_reason");
        if (reason == null) {
            return null;
        }
        boolean schema = reason.equals(Waiting.Reason.SCHEMA.wireName());
        // What an owner wrote is true while it holds the claim, or until the time for which it gave it back; a missing
        // schema
        // is noted where nobody holds it.
        boolean holds = schema ? !held : held || row.getBoolean("delayed");
        if (!holds) {
            return null;
        }
        for (Waiting.Reason known : Waiting.Reason.values()) {
            if (known.name().equals(reason.toUpperCase(Locale.ROOT))) {
                return new Waiting(
                        known,
                        Objects.requireNonNullElse(row.getString("wait_detail"), ""),
                        Values.instant(row, "wait_since"));
            }
        }
        return null;
    }

    private static @Nullable Waiting heldQuietly(ResultSet row, BackfillState state) throws SQLException {
        Instant asOf = Objects.requireNonNull(Values.instant(row, "as_of"));
        Instant since = Values.instant(row, "last_progress_at");
        Instant claimed = Values.instant(row, "claimed_at");
        if (since == null || (claimed != null && claimed.isAfter(since))) {
            since = claimed;
        }
        if (state == BackfillState.VALIDATING
                || since == null
                || since.plus(QUIET).isAfter(asOf)) {
            return null;
        }
        return new Waiting(
                Waiting.Reason.CLAIM_HELD,
                "Owner " + row.getString("claim_owner") + " holds the claim until "
                        + Values.instant(row, "claim_expires_at")
                        + " and has committed nothing since; a lapsed claim is taken over.",
                since);
    }

    private Waiting unclaimed(ResultSet row, Readability judged) throws SQLException {
        if (row.getBoolean("delayed")) {
            return new Waiting(
                    Waiting.Reason.RETRY_DELAY,
                    "After " + row.getString("failure_code") + ", the next claim is permitted at "
                            + Values.instant(row, "next_attempt_at") + ".",
                    Values.instant(row, "failure_at"));
        }
        Instant since = row.getBoolean("claimed") ? Values.instant(row, "claim_expires_at") : null;
        String claim = row.getBoolean("claimed")
                ? "The claim of " + row.getString("claim_owner") + " has lapsed and nobody has taken over"
                : "Nobody has claimed it";
        if (!judged.yes()) {
            return new Waiting(Waiting.Reason.UNKNOWN_HERE, claim + "; " + judged.why() + ".", since);
        }
        if (supervisor.isStuck(BackfillId.of(row.getString("id")))) {
            return new Waiting(
                    Waiting.Reason.CAPACITY,
                    claim + "; a thread of this process is stuck in the definition's code, which does not come back."
                            + " Restart this process.",
                    since);
        }
        if (allBusy.getAsBoolean()) {
            return new Waiting(
                    Waiting.Reason.CAPACITY, claim + "; every worker of this process is busy elsewhere.", since);
        }
        return new Waiting(Waiting.Reason.NO_WORKER, claim + " yet.", since);
    }
}
