package dev.backfill.postgres.internal.startup;

import dev.backfill.host.EngineOptions;
import dev.backfill.postgres.internal.batch.BatchRunner;
import dev.backfill.postgres.internal.batch.FailurePolicy;
import dev.backfill.postgres.internal.preflight.HealthCheck;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.PaceSql;
import dev.backfill.postgres.internal.row.RowSql;
import dev.backfill.postgres.internal.supervise.CodeUnderClaim;
import dev.backfill.postgres.internal.supervise.SystemPause;
import dev.backfill.postgres.internal.validate.ValidationRunner;
import dev.backfill.postgres.internal.work.BarrierReport;
import dev.backfill.postgres.internal.work.BatchFailures;
import dev.backfill.postgres.internal.work.BatchOutcomes;
import dev.backfill.postgres.internal.work.BatchStep;
import dev.backfill.postgres.internal.work.Blame;
import dev.backfill.postgres.internal.work.CandidateClaim;
import dev.backfill.postgres.internal.work.CandidateSearch;
import dev.backfill.postgres.internal.work.ClaimKeeper;
import dev.backfill.postgres.internal.work.Claimer;
import dev.backfill.postgres.internal.work.CompletionRecorder;
import dev.backfill.postgres.internal.work.FailureRecorder;
import dev.backfill.postgres.internal.work.LostClaimDiagnosis;
import dev.backfill.postgres.internal.work.OtherKeys;
import dev.backfill.postgres.internal.work.Renewer;
import dev.backfill.postgres.internal.work.SecondLook;
import dev.backfill.postgres.internal.work.Settlement;
import dev.backfill.postgres.internal.work.Throttle;
import dev.backfill.postgres.internal.work.ValidationJudge;
import dev.backfill.postgres.internal.work.Worker;
import dev.backfill.postgres.internal.work.WorkerPool;
import dev.backfill.postgres.internal.work.WorkerValidation;

/** The objects of one engine's workers: its own, which are watched, and those that a host steps. Thread-safe. */
final class WorkerGraph implements AutoCloseable {

    private final EngineGraph engine;
    private final EngineOptions options;
    private final SystemPause pause;
    private final LostClaimDiagnosis losses;
    private final FailureRecorder recorder;
    private final FailurePolicy policy;
    private final ClaimKeeper keeper;
    private final BarrierReport barrier;
    private final Throttle throttle;
    private final Settlement settlement;
    private final Claimer claimer;
    private final Renewer renewer;
    private final WorkerPool pool;

    WorkerGraph(EngineGraph engine, SystemPause pause) {
        String processName = engine.configuration().processName();
        this.engine = engine;
        this.options = engine.configuration().options();
        this.pause = pause;
        this.losses = new LostClaimDiagnosis(
                engine.transactions(),
                new RowSql(engine.names()),
                engine.claims(),
                engine.events(),
                options.transactionTimeout());
        this.settlement =
                new Settlement(engine.transactions(), engine.claims(), engine.events(), options.lease(), pause);
        this.recorder = new FailureRecorder(
                engine.transactions(), engine.outcomes(), engine.audit(), engine.events(), losses, settlement);
        this.policy = new FailurePolicy(options);
        this.keeper = new ClaimKeeper(engine.transactions(), engine.claims(), engine.events(), losses, options.lease());
        this.barrier = new BarrierReport(engine.transactions(), engine.names(), recorder);
        this.throttle = new Throttle(
                engine.transactions(),
                new HealthCheck(engine.transactions(), engine.meter(), options.health()),
                new PaceSql(engine.names()));
        this.claimer = claimer();
        this.renewer = new Renewer(keeper, options, processName);
        CodeUnderClaim supervised = CodeUnderClaim.supervised(engine.supervisor(), this::overran, options);
        this.pool = new WorkerPool(processName, options, pause, name -> worker(name, supervised));
    }

    /** Starts the threads of the engine's own workers. */
    void start() {
        pool.start();
    }

    /** Whether the engine has workers and each holds a claim. */
    boolean allBusy() {
        return pool.allBusy();
    }

    /** A worker that the host steps, on a thread that is not ours to interrupt. */
    Worker worker(String name) {
        return worker(name, CodeUnderClaim.unsupervised());
    }

    private Worker worker(String name, CodeUnderClaim code) {
        return new Worker(name, claimer, batches(code), validation(code), keeper, options);
    }

    /** Records that a batch or a validation does not come back; false if that could not be recorded. */
    private boolean overran(Claim claim) {
        return recorder.records(claim, policy.overdue(claim));
    }

    private BatchFailures failures(BatchRunner batches) {
        SecondLook secondLook = new SecondLook(engine.transactions(), engine.names(), options);
        OtherKeys others = new OtherKeys(engine.transactions(), batches, keeper);
        return new BatchFailures(policy, new Blame(policy, secondLook, others), recorder, keeper, pause);
    }

    private Claimer claimer() {
        CandidateSearch search = new CandidateSearch(
                engine.transactions(), engine.claims(), engine.configuration().registry(), engine.events());
        CandidateClaim claim = new CandidateClaim(
                engine.claims(),
                recorder,
                engine.configuration().registry(),
                engine.supervisor(),
                engine.names(),
                options);
        return new Claimer(engine.transactions(), search, claim, engine.events());
    }

    private BatchStep batches(CodeUnderClaim code) {
        BatchRunner batches = new BatchRunner(engine.sessions(), options, engine.events(), engine.meter(), code);
        return new BatchStep(
                throttle,
                batches,
                new BatchOutcomes(settlement, losses, failures(batches), barrier, keeper, engine.events()),
                keeper,
                engine.events());
    }

    private WorkerValidation validation(CodeUnderClaim code) {
        CompletionRecorder completions = new CompletionRecorder(
                engine.transactions(), engine.outcomes(), engine.audit(), engine.events(), losses, recorder);
        return new WorkerValidation(
                new ValidationRunner(engine.sessions(), engine.names(), options),
                renewer,
                code,
                new ValidationJudge(policy, recorder, completions, engine.events()),
                barrier,
                keeper);
    }

    @Override
    public void close() {
        pool.close();
        renewer.close();
    }
}
