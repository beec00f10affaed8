package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.BlockedException;
import dev.backfill.RetryableException;
import dev.backfill.Validation;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.proof.Model.Planted;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.FaultyConnections;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;

/**
 * Random sequences of operator actions, steps of two workers, crashes, expiries, delays and faults, against the database and the
 * executable {@link Model}. A sequence that differs is shrunk before it is shown. {@code -Dfuzz.rounds=5000} tries more,
 * {@code -Dfuzz.seed=…} repeats a run.
 */
@PostgresTest
class ModelIT {

    private static final int SEQUENCES = Integer.getInteger("fuzz.rounds", 12);
    private static final long SEED = Long.getLong("fuzz.seed", System.nanoTime());
    private static final int LONGEST = 30;

    private final TestDatabase db;
    private final FaultyConnections faults;
    private Planted planted = Planted.NOTHING;

    ModelIT(TestDatabase db) {
        this.db = db;
        this.faults = FaultyConnections.over(db);
    }

    private enum Op {
        START,
        PAUSE,
        RESUME,
        RETRY,
        REPEAT_A_REQUEST,
        VALIDATE,
        STEP_A,
        STEP_B,
        FAILING_STEP,
        BLOCKING_STEP,
        STEP_CUT_BEFORE_COMMIT,
        STEP_CUT_AFTER_COMMIT,
        VANISH_A,
        VANISH_B,
        RELEASE_A,
        EXPIRE,
        DELAY_OVER
    }

    // Steps and starts more often than the rest, or most sequences would end before they began.
    private static final Op[] BIASED = {
        Op.START, Op.STEP_A, Op.STEP_A, Op.STEP_B, Op.STEP_B, Op.DELAY_OVER, Op.RESUME, Op.RETRY
    };

    private BackfillDefinition<Long> definition() {
        return Counters.over(Counters.ID.value())
                .batchSize(Model.BATCH)
                .repair((batch, tx) -> {
                    Planted now = planted;
                    planted = Planted.NOTHING;
                    switch (now) {
                        // Of a sort that is not narrowed: the model has one size of window.
                        case ERROR -> throw new RetryableException("planted");
                        case BLOCKED -> throw new BlockedException("planted");
                        case CUT_BEFORE_COMMIT -> faults.before(FaultPoint.commit(), Fault.cut());
                        case CUT_AFTER_COMMIT -> faults.after(FaultPoint.commit(), Fault.cut());
                        default -> faults.heal();
                    }
                    return Counters.count(tx, batch.keys());
                })
                .validate(Validation.noRowMatches("hits <> 1"))
                .withoutStartBarrier()
                .build();
    }

    @Test
    void random_sequences_agree_with_the_model_of_the_contract() { // LC, CL, RB, AT-3, VA, IK-2, EV-2
        Counters.fresh(db, Model.ROWS);
        System.out.println("Model: -Dfuzz.seed=" + SEED + " -Dfuzz.rounds=" + SEQUENCES);
        Random random = new Random(SEED);
        try (BackfillHarness harness = BackfillHarness.over(db)
                .connections(faults)
                .definitions(definition())
                .options(o -> o.maxAttempts(1_000).contentionBudget(100_000))
                .open()) {
            for (int i = 0; i < SEQUENCES; i++) {
                List<Op> sequence = sequence(random);
                String difference = difference(harness, sequence);
                if (difference != null) {
                    List<Op> small = Shrink.shrunk(sequence, left -> difference(harness, left) != null);
                    throw new AssertionError("Seed " + SEED + ", sequence " + i + ", shrunk to " + small + ": "
                            + difference(harness, small) + " (at first: " + difference + ")");
                }
            }
        }
    }

    @Test
    void a_change_that_the_model_does_not_know_of_is_seen() { // the test of the test
        Counters.fresh(db, Model.ROWS);
        try (BackfillHarness harness = BackfillHarness.over(db)
                .connections(faults)
                .definitions(definition())
                .open()) {
            List<Op> sequence = List.of(Op.PAUSE, Op.START, Op.STEP_A, Op.VALIDATE, Op.STEP_A);
            assertThat(difference(harness, sequence)).isNull();
            db.execute("update counters set hits = 5 where id = 1");
            assertThat(observed(harness)).isNotEqualTo(new Model().toString());
        }
    }

    private static List<Op> sequence(Random random) {
        List<Op> sequence = new ArrayList<>();
        int length = 5 + random.nextInt(LONGEST - 5);
        for (int i = 0; i < length; i++) {
            sequence.add(
                    random.nextBoolean()
                            ? BIASED[random.nextInt(BIASED.length)]
                            : Op.values()[random.nextInt(Op.values().length)]);
        }
        return sequence;
    }

    private String observed(BackfillHarness harness) {
        Map<String, String> row = harness.row(Counters.ID);
        return row.get("state") + " generation=" + row.get("generation") + " checkpoint=" + row.get("checkpoint")
                + " claimed=" + (row.get("claim_token") != null) + " hits=" + Counters.hits(db);
    }

    /** Where database and model first part; null if they never do. */
    private String difference(BackfillHarness harness, List<Op> sequence) {
        Rows.put(db, BackfillState.PENDING);
        db.execute("update backfill set generation = 0, batches = 0, rows_scanned = 0, rows_changed = 0;"
                + " update counters set hits = 0");
        faults.heal();
        planted = Planted.NOTHING;
        Play play = new Play(harness);
        String before = observed(harness);
        for (int i = 0; i < sequence.size(); i++) {
            Op op = sequence.get(i);
            boolean completed = harness.state(Counters.ID) == BackfillState.COMPLETED;
            String outcomes = play.play(op);
            String now = observed(harness);
            if (outcomes != null) {
                return "op " + i + " " + op + " after " + before + ": " + outcomes;
            }
            if (!now.equals(play.model.toString())) {
                return "op " + i + " " + op + " after " + before + ": expected " + play.model + " but was " + now;
            }
            if (completed && !now.equals(before)) {
                return "op " + i + " " + op + " changed a completed row: " + before + " to " + now;
            }
            before = now;
        }
        play.end();
        return null;
    }

    /** One sequence being played on both. */
    private final class Play {

        private final BackfillHarness harness;
        private final Model model = new Model();
        private final HarnessWorker[] workers = new HarnessWorker[2];
        private BackfillAction lastAction;
        private String lastKey;
        private String lastOutcome;

        Play(BackfillHarness harness) {
            this.harness = harness;
            workers[0] = harness.worker("a");
            workers[1] = harness.worker("b");
        }

        String play(Op op) {
            return switch (op) {
                case START, PAUSE, RESUME, RETRY -> perform(BackfillAction.valueOf(op.name()));
                case REPEAT_A_REQUEST ->
                    lastKey == null ? null : compare(lastOutcome, harness.perform(lastAction, Counters.ID, lastKey));
                case VALIDATE -> compare(model.validate(), harness.validate(Counters.ID));
                case STEP_A -> step(0, Planted.NOTHING);
                case STEP_B -> step(1, Planted.NOTHING);
                case FAILING_STEP -> step(0, Planted.ERROR);
                case BLOCKING_STEP -> step(1, Planted.BLOCKED);
                case STEP_CUT_BEFORE_COMMIT -> step(0, Planted.CUT_BEFORE_COMMIT);
                case STEP_CUT_AFTER_COMMIT -> step(1, Planted.CUT_AFTER_COMMIT);
                case VANISH_A -> vanish(0);
                case VANISH_B -> vanish(1);
                case RELEASE_A -> release();
                case EXPIRE -> expire();
                case DELAY_OVER -> delayOver();
            };
        }

        private String perform(BackfillAction action) {
            lastAction = action;
            lastKey = BackfillHarness.newRequestId();
            lastOutcome = model.perform(action);
            return compare(lastOutcome, harness.perform(action, Counters.ID, lastKey));
        }

        private String step(int worker, Planted what) {
            planted = what;
            String expected = model.step(worker, what);
            String difference = compare(expected, workers[worker].step());
            planted = Planted.NOTHING;
            faults.heal();
            return difference;
        }

        private String vanish(int worker) {
            workers[worker].vanish();
            workers[worker] = harness.worker(worker == 0 ? "a" : "b");
            model.vanish(worker);
            return null;
        }

        private String release() {
            workers[0].close();
            workers[0] = harness.worker("a");
            model.release(0);
            return null;
        }

        private String expire() {
            if (model.claim != 0) {
                harness.expireLease(Counters.ID);
                model.expired = true;
            }
            return null;
        }

        private String delayOver() {
            harness.clearRetryDelay(Counters.ID);
            model.delayed = false;
            return null;
        }

        private String compare(String expected, Object outcome) {
            String actual = outcome.getClass().getSimpleName();
            // A delay is drawn from zero on; what counts here is that there is one.
            if (actual.equals("Retrying")) {
                db.execute("update backfill set next_attempt_at = clock_timestamp() + interval '1 hour'");
            }
            return actual.equals(expected) ? null : "expected " + expected + " but was " + outcome;
        }

        void end() {
            workers[0].vanish();
            workers[1].vanish();
        }
    }
}
