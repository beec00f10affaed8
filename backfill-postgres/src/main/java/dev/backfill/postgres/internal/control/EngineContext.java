package dev.backfill.postgres.internal.control;

import dev.backfill.host.EngineOptions;
import dev.backfill.postgres.internal.batch.BatchMeter;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.AuditSql;
import dev.backfill.postgres.internal.row.ClaimSql;
import dev.backfill.postgres.internal.row.OutcomeSql;
import dev.backfill.postgres.internal.row.Registry;
import dev.backfill.postgres.internal.supervise.StuckThreads;

/**
 * What the parts of one engine share: made once when it starts, immutable, thread-safe.
 *
 * @param options time limits, workers, retries
 * @param names the library's tables
 * @param registry this process's definitions
 * @param sessions where connections come from
 * @param control short transactions on the library's tables
 * @param sql statements on the one row
 * @param events log and listeners
 * @param meter what batches cost others
 * @param caught which definitions have a thread of this process caught
 */
public record EngineContext(
        EngineOptions options,
        Names names,
        Registry registry,
        Sessions sessions,
        Transactions control,
        Statements sql,
        Events events,
        BatchMeter meter,
        StuckThreads caught) {

    /**
     * The statements that change a backfill.
     *
     * @param claims claim, renewal, release
     * @param outcomes delay, block, fail, complete
     * @param audit audit records
     */
    public record Statements(ClaimSql claims, OutcomeSql outcomes, AuditSql audit) {}
}
