package dev.backfill.postgres.internal.engine;

import dev.backfill.BackfillEvent;
import dev.backfill.BackfillState;
import dev.backfill.DiagnosticCode;
import dev.backfill.Pacing;
import dev.backfill.postgres.internal.engine.WindowRepair.Window;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.store.BeginSql;
import dev.backfill.postgres.internal.store.BeginSql.Begun;
import dev.backfill.postgres.internal.store.Claim;
import dev.backfill.postgres.internal.store.FenceSql.Work;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Runs one batch: one transaction, in which the repair comes first, the fence last, and COMMIT with it. Decides nothing about
 * failures; says what happened. Thread-safe.
 */
final class BatchRunner {

    private final EngineContext engine;
    private final Watchdog watchdog;
    private final BeginSql begin;

    BatchRunner(EngineContext engine, Watchdog watchdog) {
        this.engine = engine;
        this.watchdog = watchdog;
        this.begin = new BeginSql(engine.names(), engine.options());
    }

    BatchResult run(Held held, int limit) {
        Claim claim = held.claim();
        long started = System.nanoTime();
        try (Session session = engine.sessions().open(engine.options().workerSocketTimeout())) {
            Optional<Begun> row = begin.begin(session, claim);
            if (row.isEmpty()
                    || !row.get().mine()
                    || !row.get().unexpired()
                    || row.get().state() != BackfillState.RUNNING) {
                return new BatchResult.NotMine();
            }
            Begun begun = row.get();
            if (held.prepared().definition().startBarrier() && !begun.barrierPassed()) {
                return new BatchResult.Barrier(begun.barrierExpired());
            }
            engine.events().publish(BackfillEvent.Kind.BATCH_ATTEMPTED, claim, null);
            Pacing pacing =
                    begun.pacing() == null ? held.prepared().definition().pacing() : begun.pacing();
            BatchMeter.Running measured = engine.meter().begin(session, pacing, started);
            Work work = work(session, held, limit);
            measured.repaired();
            return commit(session, held, begun, work, measured);
        } catch (WorkFailedException e) {
            return new BatchResult.Failed(e.getCause());
        } catch (SQLException e) {
            return new BatchResult.Failed(e);
        }
    }

    /** The repair, with the session spoiled by anything that makes its connection doubtful. */
    @SuppressWarnings(
            "checkstyle:IllegalCatch") // An Error of a definition is the definition's failure, whatever its class.
    private Work work(Session session, Held held, int limit) throws WorkFailedException {
        Claim claim = held.claim();
        if (claim.bound() == null) {
            return new Work(null, 0, 0);
        }
        try {
            Window window = repair(session, held, limit);
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

    private Window repair(Session session, Held held, int limit) throws Exception {
        try (Watchdog.Watch watch = watchdog.over(held.claim(), engine.options().transactionTimeout())) {
            try {
                Window window = held.prepared().repair().run(session, held.claim(), limit);
                watch.requireInTime();
                return window;
            } catch (Exception e) {
                throw watch.explain(e);
            }
        }
    }

    private BatchResult commit(Session session, Held held, Begun begun, Work work, BatchMeter.Running measured) {
        try {
            return held.prepared()
                    .fence()
                    .commit(session, held.claim(), begun.xid(), work)
                    .<BatchResult>map(state ->
                            new BatchResult.Committed(state, work, measured.pacing(), measured.cost(work.scanned())))
                    .orElseGet(() -> new BatchResult.Missed(work, measured.took()));
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
