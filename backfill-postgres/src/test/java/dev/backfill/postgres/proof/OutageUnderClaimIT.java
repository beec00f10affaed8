package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.host.StepOutcome;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.FaultyConnections;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.SQLException;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

/** A server that goes away under a claim, and one that comes back with less: whoever knows the token waits for no lease. */
@PostgresTest
class OutageUnderClaimIT {

    private final TestDatabase db;
    private final FaultyConnections faults;

    OutageUnderClaimIT(TestDatabase db) {
        this.db = db;
        this.faults = FaultyConnections.over(db);
    }

    @Test
    void a_failure_that_could_not_be_recorded_is_recorded_once_a_server_answers() { // RB-1, RB-3, CL-5
        Counters.fresh(db, 10);
        AtomicBoolean planted = new AtomicBoolean();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .connections(faults)
                .definitions(Counters.custom(4, (batch, tx) -> {
                    if (batch.keys().get(0) == 5 && !planted.getAndSet(true)) {
                        faults.before(FaultPoint.connect(), 4, Fault.fail("08001"));
                        throw new SQLException("the server went away", "08006");
                    }
                    return 0;
                }))
                .open()) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
            assertThat(worker.step()).isInstanceOf(StepOutcome.Retrying.class);
            faults.assertAllStruck();
            assertThat(harness.row(Counters.ID)).containsEntry("claim_token", null);
            harness.clearRetryDelay(Counters.ID);
            harness.runToCompletion(Counters.ID);
            assertThat(Counters.hits(db)).isEqualTo("1111111111");
        }
    }

    @Test
    void a_row_that_was_set_back_under_its_claim_is_free_at_once() { // CL-6, SR-6
        Counters.fresh(db, 12);
        try (BackfillHarness harness =
                BackfillHarness.over(db).definitions(Counters.custom(4)).open()) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
            assertThat(worker.step()).isInstanceOf(Committed.class);
            // What a failover does that loses the last batch.
            db.execute("update counters set hits = 0 where id > 4");
            db.execute("update backfill set checkpoint = '{4}'");
            assertThat(worker.step()).isEqualTo(new StepOutcome.Fenced(Counters.ID, "checkpoint"));
            assertThat(harness.row(Counters.ID)).containsEntry("claim_token", null);
            harness.runToCompletion(Counters.ID);
            assertThat(Counters.hits(db)).isEqualTo("111111111111");
        }
    }
}
