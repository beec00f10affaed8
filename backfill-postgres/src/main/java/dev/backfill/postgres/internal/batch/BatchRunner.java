package dev.backfill.postgres.internal.batch;

import dev.backfill.Pacing;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.postgres.internal.batch.BeginSql.Begun;
import dev.backfill.postgres.internal.batch.FenceSql.Work;
import dev.backfill.postgres.internal.batch.WindowRepair.Window;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.supervise.CodeUnderClaim;
import dev.backfill.spi.BackfillEvent;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
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

    public BatchResult run(HeldClaim held, int limit) {
        Claim claim = held.claim();
        long started = System.nanoTime();
        try (Session session = sessions.open(options.workerSocketTimeout())) {
            Begun alone = null;
            if (claim.checkpoint() == null || held.prepared().repair().looksAlone()) {
                // What the start barrier waits for may hold a lock that the window's statement would wait for, too; and
                // triggers of a statement fire even where its gate is shut.
                alone = held.prepared().begin().alone(session, claim);
                if (!alone.open()) {
                    return refused(alone);
                }
            }
            events.publish(BackfillEvent.Kind.BATCH_ATTEMPTED, claim, null);
            Repaired repaired = repair(session, held, alone, limit, started);
            Work work = repaired.work();
            if (work == null) {
                return refused(repaired.begun());
            }
            return commit(session, held, repaired.begun(), work, started);
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
            Repaired repaired = repair(session, from, begun, limit, System.nanoTime());
            // What a COMMIT would check must be checked here, where there is none.
            constraints.execute("/* backfill:repair */ SET CONSTRAINTS ALL IMMEDIATE");
            return Optional.ofNullable(repaired.work());
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
     * @param work what was done; null when the row did not allow any
     */
    private record Repaired(Begun begun, @Nullable Work work) {}

    /** The repair, with the session spoiled by anything that makes its connection doubtful. */
    @SuppressWarnings(
            "checkstyle:IllegalCatch") // An Error of a definition is the definition's failure, whatever its class.
    private Repaired repair(Session session, HeldClaim held, @Nullable Begun alone, int limit, long started)
            throws WorkFailedException {
        Claim claim = held.claim();
        if (alone != null && claim.bound() == null) {
            return new Repaired(alone, new Work(null, 0, 0));
        }
        try {
            return window(session, held, alone, limit, started);
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

    private Repaired window(Session session, HeldClaim held, @Nullable Begun alone, int limit, long started)
            throws Exception {
        Claim claim = held.claim();
        BeginSql begin = held.prepared().begin();
        try (PreparedStatement first =
                alone == null ? begin.withWindow(session, claim, limit) : begin.window(session, claim, limit)) {
            Begun begun = alone == null ? BeginSql.read(first) : alone;
            if (!begun.open()) {
                return new Repaired(begun, null);
            }
            Window window = watched(session, held, limit, first, started);
            if (alone == null && window.last() == null) {
                // A function of the author's may have shut the gate: only a statement without one says that no key is
                // left.
                try (PreparedStatement again = begin.window(session, claim, limit)) {
                    window = watched(session, held, limit, again, started);
                }
            }
            return new Repaired(begun, work(claim, window, limit));
        }
    }

    private Window watched(Session session, HeldClaim held, int limit, PreparedStatement first, long started)
            throws Exception {
        // What the first statement took is gone for the code, too: its deadline must come while the lease holds.
        Duration left = options.transactionTimeout().minusNanos(System.nanoTime() - started);
        return code.call(held.claim(), left, () -> held.prepared().repair().run(session, held.claim(), limit, first));
    }

    private static Work work(Claim claim, Window window, int limit) throws BreachException {
        if (window.scanned() > limit) {
            throw new BreachException(
                    DiagnosticCode.WINDOW_TOO_LARGE,
                    "A window held " + window.scanned() + " keys, more than " + limit + ".",
                    null);
        }
        // No key is left below the bound: only an empty selection says so, never a count of changed rows.
        return window.last() == null
                ? new Work(claim.bound(), 0, 0)
                : new Work(window.last(), window.scanned(), window.changed());
    }

    private BatchResult commit(Session session, HeldClaim held, Begun begun, Work work, long started)
            throws SQLException {
        Pacing pacing = begun.pacing() == null ? held.prepared().definition().pacing() : begun.pacing();
        long walBytes = meter.walSince(begun, pacing, session);
        try {
            Optional<BackfillState> state = held.prepared().fence().commit(session, held.claim(), begun.xid(), work);
            Duration took = Duration.ofNanos(System.nanoTime() - started);
            return state.<BatchResult>map(now ->
                            new BatchResult.Committed(now, work, pacing, new Cost(took, work.scanned(), walBytes)))
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
