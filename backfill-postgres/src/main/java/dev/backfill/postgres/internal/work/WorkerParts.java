package dev.backfill.postgres.internal.work;

import dev.backfill.postgres.internal.batch.BatchRunner;
import dev.backfill.postgres.internal.row.PaceSql;
import dev.backfill.postgres.internal.supervise.Pause;
import dev.backfill.postgres.internal.supervise.Watchdog;

/**
 * What the workers of one engine share. Immutable, thread-safe.
 *
 * @param claimer finds work
 * @param batches runs a batch
 * @param validation validates and completes
 * @param policy decides about failures
 * @param recorder records what was decided
 * @param losses says which guard refused
 * @param settlement settles unknown outcomes
 * @param barrier says what the start barrier waits for
 * @param blame finds out whose fault an error is
 * @param throttle says whether to rest
 * @param watchdog has an eye on the time that definitions take
 */
public record WorkerParts(
        Claimer claimer,
        BatchRunner batches,
        WorkerValidation validation,
        FailurePolicy policy,
        FailureRecorder recorder,
        LostClaimDiagnosis losses,
        Settlement settlement,
        BarrierReport barrier,
        Blame blame,
        Throttle throttle,
        Watchdog watchdog) {

    /** Whether the engine is closing. */
    boolean isClosing() {
        return settlement.pause().isClosed();
    }

    static WorkerParts of(EngineContext engine, Renewer renewer, Pause pause, Watchdog watchdog) {
        HealthCheck health = new HealthCheck(engine);
        LostClaimDiagnosis losses = new LostClaimDiagnosis(engine);
        FailureRecorder recorder = new FailureRecorder(engine, losses);
        return new WorkerParts(
                new Claimer(engine),
                new BatchRunner(engine, watchdog),
                new WorkerValidation(engine, renewer, watchdog, recorder, losses),
                new FailurePolicy(engine.options()),
                recorder,
                losses,
                new Settlement(engine, pause),
                new BarrierReport(engine),
                new Blame(engine, new FailurePolicy(engine.options()), watchdog),
                new Throttle(engine, health, new PaceSql(engine.names())),
                watchdog);
    }
}
