package dev.backfill.postgres.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillId;
import dev.backfill.host.BackfillWorker;
import dev.backfill.host.Backfills;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.ValidationReport;
import dev.backfill.postgres.startup.Host;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;

/** Every statement that an engine has, on one backfill: for schemas that the engine was not made for. */
final class WholeLife {

    private WholeLife() {}

    static void of(Backfills engine, BackfillId id) {
        applied(engine, BackfillAction.START, id);
        BackfillWorker worker = engine.worker("first");
        stepUntil(worker, StepOutcome.Committed.class);
        applied(engine, BackfillAction.PAUSE, id);
        assertThat(worker.step()).isNotInstanceOf(StepOutcome.Committed.class);
        applied(engine, BackfillAction.RESUME, id);
        stepUntil(worker, StepOutcome.Committed.class);
        worker.close();
        assertThat(engine.operations().list(Host.OPERATOR).backfills()).hasSize(1);
        assertThat(engine.operations().preflight(Host.OPERATOR, id).errors()).isEmpty();
        assertThat(engine.operations().validate(new OperatorRequest(id, "early", Host.OPERATOR, null)))
                .isInstanceOf(ValidationReport.class);
        BackfillWorker last = engine.worker("last");
        stepUntil(last, StepOutcome.Completed.class);
        last.close();
        assertThat(engine.operations().show(Host.OPERATOR, id).state()).isEqualTo(BackfillState.COMPLETED);
        assertThat(engine.operations().audit(Host.OPERATOR, id, 50, null).items())
                .isNotEmpty();
        assertThat(engine.operations().audit(Host.OPERATOR, null, 50, null).items())
                .isNotEmpty();
    }

    private static void applied(Backfills engine, BackfillAction action, BackfillId id) {
        assertThat(BackfillHarness.perform(
                        engine.operations(),
                        action,
                        new OperatorRequest(id, "life-" + action.wireName(), Host.OPERATOR, null)))
                .isInstanceOf(ActionOutcome.Applied.class);
    }

    private static void stepUntil(BackfillWorker worker, Class<? extends StepOutcome> outcome) {
        Eventually.until("a step ends with " + outcome.getSimpleName(), () -> outcome.isInstance(worker.step()));
    }
}
