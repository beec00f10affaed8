package dev.backfill.benchmarks.rivals;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillException;
import dev.backfill.BackfillId;
import dev.backfill.benchmarks.lab.Patience;
import dev.backfill.host.BackfillWorker;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import dev.backfill.host.SchemaMode;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.postgres.PostgresBackfills;
import dev.backfill.spi.BackfillListener;
import java.time.Duration;
import java.util.List;
import java.util.UUID;
import javax.sql.DataSource;

/** Engines of this library, started and steered. */
public final class Engines {

    /** Who operates. */
    public static final Authority OPERATOR = Authority.host("benchmark");

    private static final Duration PATIENCE = Duration.ofMinutes(5);

    private Engines() {}

    /** An engine that has come up. */
    public static Backfills open(DataSource pool, EngineOptions options, BackfillDefinition<?>... definitions)
            throws Exception {
        return open(pool, options, event -> {}, List.of(definitions));
    }

    /** An engine that has come up, with somebody who listens. */
    public static Backfills open(
            DataSource pool, EngineOptions options, BackfillListener listener, List<BackfillDefinition<?>> definitions)
            throws Exception {
        Backfills backfills = PostgresBackfills.on(pool)
                .definitions(definitions)
                .schema(SchemaMode.MIGRATE)
                .options(options)
                .operators((authority, capability) -> true)
                .listener(listener)
                .startup();
        Patience.until("the engine is up", PATIENCE, () -> isUp(backfills));
        return backfills;
    }

    private static boolean isUp(Backfills backfills) {
        try {
            backfills.requireStarted();
            return backfills.readiness().schema().ok();
        } catch (BackfillException e) {
            return false;
        }
    }

    /** Starts a backfill. */
    public static void start(Backfills backfills, BackfillId id) throws Exception {
        perform(backfills, BackfillAction.START, id);
    }

    /** Performs an action, which must be applied; while startup goes on, the same request is repeated. */
    public static void perform(Backfills backfills, BackfillAction action, BackfillId id) throws Exception {
        OperatorRequest request = new OperatorRequest(id, UUID.randomUUID().toString(), OPERATOR, null);
        Patience.until(action + " of " + id, PATIENCE, () -> {
            ActionOutcome outcome;
            try {
                outcome = ask(backfills.operations(), action, request);
            } catch (BackfillUnavailableException e) {
                return false;
            }
            if (outcome instanceof ActionOutcome.Applied) {
                return true;
            }
            throw new IllegalStateException(action + " of " + id + " was answered with " + outcome);
        });
    }

    private static ActionOutcome ask(BackfillOperations operations, BackfillAction action, OperatorRequest request) {
        return switch (action) {
            case START -> operations.start(request);
            case PAUSE -> operations.pause(request);
            case RESUME -> operations.resume(request);
            case RETRY -> operations.retry(request);
            case VALIDATE -> throw new IllegalArgumentException("a validation is no action of these sections");
        };
    }

    /** Steps a worker until the checkpoint is at the bound. */
    public static void toTheBound(BackfillWorker worker) {
        while (!batch(worker).boundReached()) {
            // On to the next.
        }
    }

    /** Steps a worker until one batch has committed; the start barrier may have to be waited for. */
    public static StepOutcome.Committed batch(BackfillWorker worker) {
        while (true) {
            StepOutcome outcome = worker.step();
            if (outcome instanceof StepOutcome.Committed committed) {
                return committed;
            }
            if (!(outcome instanceof StepOutcome.Waits)) {
                throw new IllegalStateException("A step came to " + outcome);
            }
        }
    }
}
