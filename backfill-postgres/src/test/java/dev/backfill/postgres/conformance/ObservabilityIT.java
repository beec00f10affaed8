package dev.backfill.postgres.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.host.StepOutcome;
import dev.backfill.spi.BackfillEvent;
import dev.backfill.spi.BackfillEvent.Kind;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.TestDatabase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** What happens to a claim and to work can be told apart, and what is told agrees with PostgreSQL. */
class ObservabilityIT extends Case {

    private final List<BackfillEvent> events = new CopyOnWriteArrayList<>();

    ObservabilityIT(TestDatabase db) {
        super(db);
    }

    private BackfillHarness heard() {
        BackfillHarness harness = kept(BackfillHarness.over(db)
                .definitions(counted())
                .connections(faults)
                .listener(events::add)
                .open());
        harness.start(ID);
        return harness;
    }

    private void awaitKind(Kind kind) {
        Eventually.until(kind + " is heard of", () -> events.stream().anyMatch(event -> event.kind() == kind));
    }

    @Test
    void a_claim_acquired_lost_taken_over_and_released_are_told_apart() throws Exception { // OB-1
        BackfillHarness harness = heard();
        HarnessWorker worker = atWork(harness);
        awaitKind(Kind.CLAIMED);
        HeldStep stale = HeldStep.beforeTheFence(faults, worker);
        harness.expireLease(ID);
        stale.goOn();
        awaitKind(Kind.FENCED);
        HarnessWorker successor = harness.worker("b");
        // The stale session may need a moment to let go of the row.
        Eventually.until("the claim is taken over", () -> step(successor) instanceof StepOutcome.Committed);
        awaitKind(Kind.TAKEN_OVER);
        successor.close();
        awaitKind(Kind.RELEASED);
    }

    @Test
    void what_was_committed_adds_up_to_what_postgresql_counts() { // OB-3, OB-1
        BackfillHarness harness = heard();
        harness.runToCompletion(ID);
        awaitKind(Kind.COMPLETED);
        assertThat(events.stream()
                        .filter(event -> event.kind() == Kind.BATCH_COMMITTED)
                        .mapToLong(BackfillEvent::rowsScanned)
                        .sum())
                .isEqualTo(db.queryLong("SELECT rows_scanned FROM backfill"));
        assertThat(events).extracting(BackfillEvent::kind).contains(Kind.VALIDATING, Kind.VALIDATED);
    }

    @Test
    void a_listener_that_fails_changes_nothing() { // OB-3
        BackfillHarness harness = kept(BackfillHarness.over(db)
                .definitions(counted())
                .listener(event -> {
                    throw new IllegalStateException("no");
                })
                .open());
        harness.runToCompletion(ID);
        assertEachRowOnce();
    }
}
