package dev.backfill.postgres.internal.startup;

import dev.backfill.postgres.internal.batch.ValidationRunner;
import dev.backfill.postgres.internal.control.AuditTrail;
import dev.backfill.postgres.internal.control.ControlTransaction;
import dev.backfill.postgres.internal.control.LifecycleControls;
import dev.backfill.postgres.internal.control.OperatorHandlers;
import dev.backfill.postgres.internal.control.PaceControls;
import dev.backfill.postgres.internal.control.ReadModel;
import dev.backfill.postgres.internal.control.RehearsalControls;
import dev.backfill.postgres.internal.control.SnapshotMapper;
import dev.backfill.postgres.internal.control.Snapshots;
import dev.backfill.postgres.internal.control.ValidationControls;
import dev.backfill.postgres.internal.control.ValidationRun;
import dev.backfill.postgres.internal.control.WaitingReasons;
import dev.backfill.postgres.internal.preflight.FamilyRanges;
import dev.backfill.postgres.internal.preflight.PreflightCheck;
import dev.backfill.postgres.internal.preflight.Rehearser;
import dev.backfill.postgres.internal.row.ActionSql;
import dev.backfill.postgres.internal.row.AuditReadSql;
import dev.backfill.postgres.internal.row.Jooq;
import dev.backfill.postgres.internal.row.LastValidationSql;
import dev.backfill.postgres.internal.row.LedgerSql;
import dev.backfill.postgres.internal.row.PaceSql;
import dev.backfill.postgres.internal.row.RowSql;
import dev.backfill.postgres.internal.row.SnapshotSql;
import dev.backfill.postgres.internal.supervise.RehearsalThreads;
import dev.backfill.postgres.internal.supervise.StuckThreads;
import dev.backfill.postgres.internal.supervise.ValidationThreads;
import dev.backfill.postgres.internal.work.EngineContext;
import dev.backfill.postgres.internal.work.HealthCheck;
import java.util.function.BooleanSupplier;

/**
 * Builds the control room of an engine, once its tables are known.
 *
 * @param allBusy whether every worker of this process holds a claim
 * @param stuck which definitions have a thread of this process stuck in their code
 * @param validations where explicit validations run
 * @param rehearsals where rehearsals run
 */
record ControlGraph(
        BooleanSupplier allBusy, StuckThreads stuck, ValidationThreads validations, RehearsalThreads rehearsals) {

    OperatorHandlers over(EngineContext engine) {
        Jooq jooq = new Jooq(engine.names());
        RowSql rows = new RowSql(engine.names());
        WaitingReasons waiting = new WaitingReasons(allBusy, stuck);
        SnapshotMapper mapper =
                new SnapshotMapper(engine.registry(), engine.options().maxAttempts(), waiting);
        Snapshots snapshots = new Snapshots(new SnapshotSql(engine.names()), mapper);
        ControlTransaction transaction = new ControlTransaction(
                engine.control(),
                rows,
                new LedgerSql(jooq),
                engine.sql().audit(),
                snapshots,
                engine.options().operatorTimeout());
        PreflightCheck preflight = new PreflightCheck(engine);
        return new OperatorHandlers(
                new LifecycleControls(
                        transaction,
                        new ActionSql(engine.names()),
                        engine.registry(),
                        preflight,
                        new FamilyRanges(engine)),
                new PaceControls(
                        transaction, new PaceSql(engine.names()), engine.registry(), new HealthCheck(engine)::measure),
                new RehearsalControls(transaction, engine.registry(), new Rehearser(engine), rehearsals),
                validations(engine, transaction, new LastValidationSql(jooq)),
                new ReadModel(engine.control(), snapshots, engine.registry(), rows, new AuditReadSql(jooq), preflight),
                new AuditTrail(engine.control(), engine.sql().audit()));
    }

    private ValidationControls validations(
            EngineContext engine, ControlTransaction transaction, LastValidationSql last) {
        ValidationRun run = new ValidationRun(
                transaction, new ValidationRunner(engine), last, engine.sql().outcomes(), engine.events());
        return new ValidationControls(transaction, engine.registry(), run, validations, engine.options());
    }
}
