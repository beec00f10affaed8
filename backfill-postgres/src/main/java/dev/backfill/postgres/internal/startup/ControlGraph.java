package dev.backfill.postgres.internal.startup;

import dev.backfill.host.EngineOptions;
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
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.preflight.FamilyRanges;
import dev.backfill.postgres.internal.preflight.HealthCheck;
import dev.backfill.postgres.internal.preflight.PreflightCheck;
import dev.backfill.postgres.internal.preflight.Rehearser;
import dev.backfill.postgres.internal.row.ActionSql;
import dev.backfill.postgres.internal.row.AuditReadSql;
import dev.backfill.postgres.internal.row.EvidenceSql;
import dev.backfill.postgres.internal.row.Jooq;
import dev.backfill.postgres.internal.row.LastValidationSql;
import dev.backfill.postgres.internal.row.LedgerSql;
import dev.backfill.postgres.internal.row.PaceSql;
import dev.backfill.postgres.internal.row.Registry;
import dev.backfill.postgres.internal.row.RowSql;
import dev.backfill.postgres.internal.row.SnapshotSql;
import dev.backfill.postgres.internal.supervise.Slots;
import dev.backfill.postgres.internal.supervise.Supervisor;
import dev.backfill.postgres.internal.validate.ValidationRunner;
import java.util.function.BooleanSupplier;

/**
 * Builds the control room of an engine, once its tables are known.
 *
 * @param allBusy whether every worker of this process holds a claim
 * @param supervisor knows from whose code threads do not come back
 * @param validations bounds the explicit validations that run at once
 * @param rehearsals bounds the rehearsals that run at once
 */
record ControlGraph(BooleanSupplier allBusy, Supervisor supervisor, Slots validations, Slots rehearsals) {

    OperatorHandlers over(EngineGraph engine) {
        EngineOptions options = engine.configuration().options();
        Registry registry = engine.configuration().registry();
        Names names = engine.names();
        Jooq jooq = new Jooq(names);
        RowSql rows = new RowSql(names);
        WaitingReasons waiting = new WaitingReasons(allBusy, supervisor);
        SnapshotMapper mapper = new SnapshotMapper(registry, options.maxAttempts(), waiting);
        Snapshots snapshots = new Snapshots(new SnapshotSql(names), mapper, new EvidenceSql(names));
        ControlTransaction transaction = new ControlTransaction(
                engine.transactions(), rows, new LedgerSql(jooq), engine.audit(), snapshots, options.operatorTimeout());
        PreflightCheck preflight = new PreflightCheck(names, options);
        return new OperatorHandlers(
                new LifecycleControls(transaction, new ActionSql(names), registry, preflight, new FamilyRanges(names)),
                new PaceControls(
                        transaction,
                        new PaceSql(names),
                        registry,
                        new HealthCheck(engine.transactions(), engine.meter(), options.health())::measure),
                new RehearsalControls(
                        transaction, registry, new Rehearser(engine.sessions(), names, options), rehearsals),
                validations(engine, transaction, new LastValidationSql(jooq)),
                new ReadModel(engine.transactions(), snapshots, registry, rows, new AuditReadSql(jooq), preflight),
                new AuditTrail(engine.transactions(), engine.audit()));
    }

    private ValidationControls validations(EngineGraph engine, ControlTransaction transaction, LastValidationSql last) {
        EngineOptions options = engine.configuration().options();
        ValidationRun run = new ValidationRun(
                transaction,
                new ValidationRunner(engine.sessions(), engine.names(), options),
                last,
                engine.outcomes(),
                engine.events());
        return new ValidationControls(
                transaction, engine.configuration().registry(), run, validations, options.operatorTimeout());
    }
}
