package dev.backfill.postgres.internal.batch;

import dev.backfill.Pacing;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.postgres.internal.batch.BeginSql.Begun;
import dev.backfill.postgres.internal.batch.FenceSql.Work;
import dev.backfill.postgres.internal.batch.WindowRepair.Window;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.ReadOnlyException;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.supervise.CodeUnderClaim;
import dev.backfill.postgres.internal.supervise.LentSession;
import dev.backfill.spi.BackfillEvent;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Runs one batch: one transaction, in which the repair comes first, the fence last, and COMMIT with it. Decides nothing about
 * failures; says what happened. Thread-safe.
 */
public final class BatchRunner {

    private final Sessions sessions;
    private final EngineOptions options;
    private final Events events;
    private final BatchMeter meter;
    private final CodeUnderClaim code;

    public BatchRunner(Sessions sessions, EngineOptions options, Events events, BatchMeter meter, CodeUnderClaim code) {
        this.sessions = sessions;
        this.options = options;
        this.events = events;
        this.meter = meter;
        this.code = code;
    }

    public BatchResult run(HeldClaim held, WindowSize size) {
        try (Session session = sessions.open(options.workerSocketTimeout())) {
            OneFlush flush = held.prepared().flush();
            Attempt attempt = new Attempt(held, size, System.nanoTime(), null, true);
            // Who waits for a batch's locks can only be counted between repair and fence.
            if (flush != null && !meter.isDue() && flush.isWorthATry()) {
                BatchResult result = batch(session, attempt.with(flush));
                if (result != null) {
                    return result;
                }
                attempt = attempt.again();
            }
            return Objects.requireNonNull(batch(session, attempt));
        } catch (WorkFailedException e) {
            return new BatchResult.Failed(e.getCause());
        } catch (SQLException e) {
            return new BatchResult.Failed(e);
        }
    }

    /**
     * Repairs a window after a key and rolls it back, to see whether its rows can be repaired.
     *
     * @return what it would have done; empty if it failed for a reason that may lie in its rows
     * @throws SQLException if something else stood in the way
     */
    public Optional<Work> tryOut(HeldClaim held, List<String> after, int limit) throws SQLException {
        HeldClaim from = held.with(held.claim().advanced(BackfillState.RUNNING, after));
        // Closing a session rolls back whatever it has open: there is no way to a commit from here.
        try (Session session = sessions.open(options.workerSocketTimeout());
                Statement constraints = session.connection().createStatement()) {
            Begun begun = held.prepared().begin().alone(session, held.claim());
            if (!begun.open()) {
                throw new SQLException("the claim is not this worker's any more", "40001");
            }
            Repaired repaired =
                    repair(session, new Attempt(from, WindowSize.of(limit), System.nanoTime(), null, false), begun);
            // What a COMMIT would check must be checked here, where there is none.
            constraints.execute("/* backfill:repair */ SET CONSTRAINTS ALL IMMEDIATE");
            return Optional.ofNullable(repaired.window()).map(window -> work(from.claim(), window));
        } catch (WorkFailedException e) {
            return emptyIfOfRows(SqlFailure.in(e.getCause()));
        } catch (SQLException e) {
            return emptyIfOfRows(e);
        }
    }

    private static Optional<Work> emptyIfOfRows(@Nullable SQLException e) throws SQLException {
        if (e != null && !SqlFailure.of(e).mayBeOfRows()) {
            throw e;
        }
        return Optional.empty();
    }

    /**
     * One try at a batch.
     *
     * @param size the bounds of its window
     * @param started when the batch was taken up, for its time
     * @param flush how its end is sent; null for step by step
     * @param first whether it is the first try, which is reported
     */
    private record Attempt(
            HeldClaim held,
            WindowSize size,
            long started,
            @Nullable OneFlush flush,
            boolean first) {

        Claim claim() {
            return held.claim();
        }

        Attempt with(OneFlush by) {
            return new Attempt(held, size, started, by, first);
        }

        Attempt again() {
            return new Attempt(held, size, started, null, false);
        }
    }

    /** Null if it was tried with a flush, failed for a reason that only the steps can tell, and was rolled back. */
    private @Nullable BatchResult batch(Session session, Attempt attempt) throws SQLException, WorkFailedException {
        Claim claim = attempt.claim();
        OneFlush flush = attempt.flush();
        Begun alone = null;
        boolean looksAlone =
                claim.checkpoint() == null || attempt.held().prepared().repair().looksAlone();
        if (looksAlone) {
            // What the start barrier waits for may hold a lock that the window's statement would wait for, too; and
            // triggers of a statement fire even where its gate is shut.
            alone = attempt.held().prepared().begin().alone(session, claim);
            if (!alone.open()) {
                return refused(alone);
            }
        }
        if (attempt.first()) {
            events.publish(BackfillEvent.Kind.BATCH_ATTEMPTED, claim, null);
        }
        if (flush != null && !looksAlone && flush.takesAll(attempt.size())) {
            return flush.all(session, attempt.held(), attempt.size(), attempt.started());
        }
        Repaired repaired = repair(session, attempt, alone);
        Window window = repaired.window();
        if (window == null) {
            return refused(repaired.begun());
        }
        return flush != null && window.unsent() != null
                ? flush.rest(session, attempt.held(), repaired.begun(), window, attempt.size(), attempt.started())
                : commit(session, attempt, repaired.begun(), work(claim, window));
    }

    private static BatchResult refused(Begun begun) {
        if (begun.readOnly()) {
            return new BatchResult.Failed(new ReadOnlyException());
        }
        if (begun.elsewhere() != null) {
            return new BatchResult.Failed(BreachException.ofTarget(begun.elsewhere()));
        }
        return begun.waits() ? new BatchResult.Barrier(begun.overdue()) : new BatchResult.NotMine();
    }

    /**
     * What came of the repair.
     *
     * @param begun what the row said when the batch began
     * @param window what was done; null when the row did not allow any
     */
    private record Repaired(Begun begun, @Nullable Window window) {}

    /** The repair, with the session spoiled by anything that makes its connection doubtful. */
    @SuppressWarnings(
            "checkstyle:IllegalCatch") // An Error of a definition is the definition's failure, whatever its class.
    private Repaired repair(Session session, Attempt attempt, @Nullable Begun alone) throws WorkFailedException {
        if (alone != null && attempt.claim().bound() == null) {
            return new Repaired(alone, Window.END_OF_SOURCE);
        }
        try {
            Repaired repaired = window(session, attempt, alone);
            if (repaired.window() != null) {
                requireBounded(repaired.window(), attempt.size());
            }
            return repaired;
        } catch (SQLException e) {
            session.failed(e);
            throw new WorkFailedException(e);
        } catch (BreachException e) {
            // Whatever the definition did to the session must not come back out of a pool.
            session.spoil();
            throw new WorkFailedException(e);
        } catch (Exception | Error e) {
            throw new WorkFailedException(e);
        }
    }

    private Repaired window(Session session, Attempt attempt, @Nullable Begun alone) throws Exception {
        Claim claim = attempt.claim();
        WindowSize size = attempt.size();
        BeginSql begin = attempt.held().prepared().begin();
        try (PreparedStatement first =
                alone == null ? begin.withWindow(session, claim, size) : begin.window(session, claim, size)) {
            Begun begun = alone == null ? BeginSql.read(first) : alone;
            if (!begun.open()) {
                return new Repaired(begun, null);
            }
            Window window = watched(session, attempt, first);
            if (alone == null && window.last() == null) {
                // A function of the author's may have shut the gate: only a statement without one says that no key is
                // left.
                try (PreparedStatement again = begin.window(session, claim, size)) {
                    window = watched(session, attempt, again);
                }
            }
            return new Repaired(begun, window);
        }
    }

    private Window watched(Session session, Attempt attempt, PreparedStatement first) throws Exception {
        // What the first statement took is gone for the code, too: its deadline must come while the lease holds.
        Duration left = options.transactionTimeout().minusNanos(System.nanoTime() - attempt.started());
        WindowRepair repair = attempt.held().prepared().repair();
        LentSession lent = new LentSession();
        return code.call(
                attempt.claim(),
                left,
                lent,
                () -> lent.during(session::abort, () -> {
                    Window window = repair.run(session, attempt.claim(), attempt.size(), first);
                    return attempt.flush() == null ? window.sent(session) : window;
                }));
    }

    private static void requireBounded(Window window, WindowSize size) throws BreachException {
        if (window.scanned() > size.keys()) {
            throw new BreachException(
                    DiagnosticCode.WINDOW_TOO_LARGE,
                    "A window held " + window.scanned() + " keys, more than " + size.keys() + ".",
                    null);
        }
    }

    private static Work work(Claim claim, Window window) {
        // No key is left below the bound: only an empty selection says so, never a count of changed rows.
        return window.last() == null
                ? new Work(claim.bound(), 0, 0)
                : new Work(window.last(), window.scanned(), window.changed());
    }

    private BatchResult commit(Session session, Attempt attempt, Begun begun, Work work) throws SQLException {
        HeldClaim held = attempt.held();
        Pacing pacing = begun.pacing() == null ? held.prepared().definition().pacing() : begun.pacing();
        long walBytes = meter.walSince(begun, pacing, session);
        try {
            Optional<BackfillState> state = held.prepared().fence().commit(session, held.claim(), begun.xid(), work);
            Duration took = Duration.ofNanos(System.nanoTime() - attempt.started());
            if (state.isPresent() && held.prepared().flush() != null) {
                held.prepared().flush().counted(begun.totals(), work);
            }
            return state.<BatchResult>map(now -> new BatchResult.Committed(
                            now, work, pacing, new Cost(took, work.scanned(), work.changed(), walBytes)))
                    .orElseGet(() -> new BatchResult.Missed(work, took));
        } catch (SQLException e) {
            // The driver reports "it landed" and "it never arrived" alike: the connection is done with, and the row
            // decides.
            session.spoil();
            return new BatchResult.Unknown(e, work);
        }
    }

    /** Carries whatever a repair threw to the one place that rolls back. */
    private static final class WorkFailedException extends Exception {

        private static final long serialVersionUID = 1L;

        private final transient Throwable thrown;

        WorkFailedException(Throwable thrown) {
            super(thrown);
            this.thrown = thrown;
        }

        @Override
        public synchronized Throwable getCause() {
            return thrown;
        }
    }
}
