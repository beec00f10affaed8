package dev.backfill.postgres.internal.preflight;

import dev.backfill.host.EngineOptions;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.Rehearsal.Sample;
import dev.backfill.postgres.internal.batch.FailurePolicy;
import dev.backfill.postgres.internal.batch.PageSql;
import dev.backfill.postgres.internal.batch.PreparedDefinition;
import dev.backfill.postgres.internal.batch.WindowRepair;
import dev.backfill.postgres.internal.batch.WindowSize;
import dev.backfill.postgres.internal.jdbc.Limits;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.HealthSql;
import dev.backfill.postgres.internal.supervise.LentSession;
import dev.backfill.postgres.internal.supervise.OverdueException;
import dev.backfill.postgres.internal.supervise.Overrun;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;

/**
 * One window of a rehearsal, run on a thread beside the caller's and always rolled back. May be abandoned from any thread; one that
 * was does not begin any more.
 */
public final class RehearsedWindow implements Callable<Sample>, Overrun {

    private final Sessions sessions;
    private final EngineOptions options;
    private final Limits limits;
    private final PreparedDefinition prepared;
    private final WindowSize size;
    private final Claim claim;
    private final String position;
    private final long started = System.nanoTime();
    private final LentSession lent = new LentSession();
    private volatile boolean entered;

    RehearsedWindow(
            Sessions sessions,
            EngineOptions options,
            Limits limits,
            Rehearser.Prepared what,
            String position,
            Claim claim) {
        this.sessions = sessions;
        this.options = options;
        this.limits = limits;
        this.prepared = what.definition();
        this.size = WindowSize.of(what.limit());
        this.position = position;
        this.claim = claim;
    }

    @Override
    public Sample call() throws SQLException {
        // Closing a session rolls back whatever it has open: there is no way to a commit from here.
        try (Session opened = sessions.open(options.workerSocketTimeout())) {
            begin(opened);
            return lent.during(opened::abort, () -> rehearsed(opened));
        } catch (SQLException | RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    @SuppressWarnings(
            "checkstyle:IllegalCatch") // An Error of a definition is the definition's failure, whatever its class.
    private Sample rehearsed(Session opened) {
        entered = true;
        try {
            return rehearse(opened);
        } catch (Exception | Error e) {
            if (e instanceof SQLException sql) {
                opened.failed(sql);
            }
            return failed(e);
        }
    }

    private Sample rehearse(Session opened) throws Exception {
        long walBefore = HealthSql.mark(opened).walPosition();
        long began = System.nanoTime();
        WindowRepair.Window window;
        try (PreparedStatement first = prepared.begin().window(opened, claim, size)) {
            window = prepared.repair().run(opened, claim, size, first).sent(opened);
        }
        Duration took = Duration.ofNanos(System.nanoTime() - began);
        long wal = HealthSql.mark(opened).walPosition() - walBefore;
        return new Sample(position, window.scanned(), window.changed(), took, wal, SampleSql.locks(opened), null);
    }

    private Sample failed(Throwable thrown) {
        Duration took = Duration.ofNanos(System.nanoTime() - started);
        Diagnostic why = new FailurePolicy(options)
                .ofBatch(new FailurePolicy.Failure(thrown, 1, took), claim)
                .diagnostic();
        return new Sample(position, 0, 0, took, 0, List.of(), why);
    }

    /**
     * What is said of it when it had more than its time.
     *
     * @throws SQLException if it is the database and not the definition that took it
     */
    Sample overdue() throws SQLException {
        if (!entered) {
            throw new SQLException("no window could be begun in time", "08001");
        }
        return failed(new OverdueException(null));
    }

    private void begin(Session opened) throws SQLException {
        Sql begin = Sql.of("/* backfill:rehearsal */ SET TRANSACTION ISOLATION LEVEL READ COMMITTED;"
                + "/* backfill:rehearsal */ SELECT " + limits.asSelectItems()
                + ", pg_catalog.set_config('application_name', :application, true), "
                + PageSql.UNTOLD);
        String name = "backfill #" + claim.no() + " rehearsal";
        try (PreparedStatement statement = begin.prepare(opened.connection(), Sql.Params.of("application", name))) {
            statement.execute();
        }
    }

    @Override
    public boolean abandon() {
        return lent.abort();
    }
}
