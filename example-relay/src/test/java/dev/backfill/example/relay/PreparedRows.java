package dev.backfill.example.relay;

import static dev.backfill.operate.BackfillState.BLOCKED;
import static dev.backfill.operate.BackfillState.COMPLETED;
import static dev.backfill.operate.BackfillState.FAILED;
import static dev.backfill.operate.BackfillState.PAUSED;
import static dev.backfill.operate.BackfillState.PENDING;
import static dev.backfill.operate.BackfillState.RUNNING;
import static dev.backfill.operate.BackfillState.VALIDATING;
import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.example.relay.backfills.ChannelRetention;
import dev.backfill.example.relay.backfills.EventCounts;
import dev.backfill.example.relay.backfills.MentionRows;
import dev.backfill.example.relay.backfills.RelayBackfills;
import dev.backfill.example.relay.backfills.SearchText;
import dev.backfill.example.relay.backfills.ThreadRoots;
import dev.backfill.example.relay.database.RelaySchema;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.TestDatabase;
import java.sql.SQLException;
import java.util.Map;

/** What a relay finds when it boots: a row for each of its definitions. The two together hold all seven states. */
enum PreparedRows {

    /** The required one needs an operator. */
    STUCK(Map.of(
            ThreadRoots.ID, FAILED,
            SearchText.ID, RUNNING,
            MentionRows.ID, VALIDATING,
            EventCounts.ID, PENDING,
            ChannelRetention.ID, COMPLETED)),

    /** The required one is recovered; of the others most need an operator. */
    RECOVERABLE(Map.of(
            ThreadRoots.ID, VALIDATING,
            SearchText.ID, PAUSED,
            MentionRows.ID, BLOCKED,
            EventCounts.ID, FAILED,
            ChannelRetention.ID, RUNNING));

    @SuppressWarnings("ImmutableEnumChecker") // Map.of
    private final Map<String, BackfillState> states;

    PreparedRows(Map<String, BackfillState> states) {
        this.states = states;
    }

    /** By ID. */
    Map<String, BackfillState> states() {
        return states;
    }

    /** What contract CF says will become of a row. */
    BackfillState expected(String id, boolean automatic) {
        return switch (states.get(id)) {
            case PENDING -> automatic && id.equals(ThreadRoots.ID) ? COMPLETED : PENDING;
            case RUNNING, VALIDATING, COMPLETED -> COMPLETED; // CF-5
            case PAUSED, BLOCKED, FAILED -> states.get(id);
        };
    }

    /** Whether a boot leaves a row as it is, to the last column. */
    boolean isLeftAlone(String id, boolean automatic) {
        return states.get(id) == expected(id, automatic);
    }

    /** Makes a history and the rows, each by an engine that knows only the one. */
    void in(TestDatabase database) throws SQLException {
        database.clear();
        new RelaySchema(database.dataSource(), 2_000).migrate();
        for (BackfillDefinition<?> definition : RelayBackfills.all()) {
            try (BackfillHarness harness = BackfillHarness.on(database, definition)) {
                BackfillState state = states.get(definition.id().value());
                bring(harness, definition.id(), state);
                assertThat(harness.state(definition.id())).isEqualTo(state);
            }
        }
    }

    private static void bring(BackfillHarness harness, BackfillId id, BackfillState state) {
        if (state == PENDING) {
            return;
        }
        assertThat(harness.start(id)).isInstanceOf(ActionOutcome.Applied.class);
        switch (state) {
            case RUNNING -> step(harness, false);
            case VALIDATING -> step(harness, true);
            case PAUSED -> assertThat(harness.pause(id)).isInstanceOf(ActionOutcome.Applied.class);
            case BLOCKED, FAILED -> {
                harness.tamper(id, "failure_code", "data_error");
                harness.tamper(id, "state", state.wireName());
            }
            case COMPLETED -> harness.runToCompletion(id);
            case PENDING -> throw new IllegalStateException("was started");
        }
    }

    /** A worker that commits one batch, or all of them, and releases its claim. */
    private static void step(BackfillHarness harness, boolean toTheBound) {
        try (HarnessWorker worker = harness.worker("earlier")) {
            Eventually.until(
                    "it got on",
                    () -> worker.step() instanceof StepOutcome.Committed done && (!toTheBound || done.boundReached()));
        }
    }
}
