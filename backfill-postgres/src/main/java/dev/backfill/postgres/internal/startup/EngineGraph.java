package dev.backfill.postgres.internal.startup;

import dev.backfill.host.EngineOptions;
import dev.backfill.postgres.internal.batch.BatchMeter;
import dev.backfill.postgres.internal.control.OperatorHandlers;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.Limits;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.AuditSql;
import dev.backfill.postgres.internal.row.ClaimSql;
import dev.backfill.postgres.internal.row.OutcomeSql;
import dev.backfill.postgres.internal.supervise.Supervisor;
import java.time.Duration;

/**
 * The objects of one engine, made once its tables are known to be usable. This class and {@link WorkerGraph} are the only places that
 * know how the rooms are put together; nobody below asks them for anything. Immutable, thread-safe.
 */
final class EngineGraph {

    private static final Duration ROW_LOCK_WAIT = Duration.ofSeconds(2);

    private final Configuration configuration;
    private final Names names;
    private final Sessions sessions;
    private final Events events;
    private final Supervisor supervisor;
    private final Transactions transactions;
    private final ClaimSql claims;
    private final OutcomeSql outcomes;
    private final AuditSql audit;
    private final BatchMeter meter = new BatchMeter();
    private final OperatorHandlers handlers;

    /**
     * Over tables that are usable.
     *
     * @param controls builds what answers operators
     */
    EngineGraph(
            Configuration configuration,
            Names names,
            Sessions sessions,
            Events events,
            Supervisor supervisor,
            ControlGraph controls) {
        EngineOptions options = configuration.options();
        this.configuration = configuration;
        this.names = names;
        this.sessions = sessions;
        this.events = events;
        this.supervisor = supervisor;
        this.transactions =
                new Transactions(sessions, Limits.ofControl(options, ROW_LOCK_WAIT), options.operatorTimeout());
        this.claims = new ClaimSql(names);
        this.outcomes = new OutcomeSql(names, claims, options);
        this.audit = new AuditSql(names, configuration.sink());
        this.handlers = controls.over(this);
    }

    Configuration configuration() {
        return configuration;
    }

    Names names() {
        return names;
    }

    Sessions sessions() {
        return sessions;
    }

    Events events() {
        return events;
    }

    Supervisor supervisor() {
        return supervisor;
    }

    Transactions transactions() {
        return transactions;
    }

    ClaimSql claims() {
        return claims;
    }

    OutcomeSql outcomes() {
        return outcomes;
    }

    AuditSql audit() {
        return audit;
    }

    BatchMeter meter() {
        return meter;
    }

    /** What answers operators. */
    OperatorHandlers handlers() {
        return handlers;
    }
}
