package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Pacing;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.host.StepOutcome.NothingToDo;
import dev.backfill.host.StepOutcome.Waits;
import dev.backfill.operate.Waiting;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Waiting holds nobody up: a claim that has to wait is given back, and its worker goes on with other work (BB-5). */
@PostgresTest
class WaitingClaimIT {

    private static final BackfillId OTHER = BackfillId.of("counters.zz.v1");

    private final TestDatabase db;

    WaitingClaimIT(TestDatabase db) {
        this.db = db;
    }

    private static BackfillDefinition<Long> other() {
        return Counters.over(OTHER.value())
                .batchSize(4)
                .withoutStartBarrier()
                .repair((batch, tx) -> 0)
                .validate(Validation.noRowMatches("false"))
                .build();
    }

    private static BackfillDefinition<Long> slow() {
        return Counters.over(Counters.ID.value())
                .batchSize(100)
                .pacing(Pacing.unlimited().rowsPerSecond(1))
                .repair((batch, tx) -> Counters.count(tx, batch.keys()))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
    }

    @Test
    void a_paced_backfill_leaves_its_worker_to_others_and_keeps_its_pace_in_every_process() throws Exception { // BB-5
        Counters.fresh(db, 200);
        try (BackfillHarness harness = BackfillHarness.on(db, slow(), other());
                BackfillHarness another = BackfillHarness.on(db, slow())) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 100, 100, false));
            harness.start(OTHER);
            assertThat(worker.step()).isEqualTo(new Waits(Counters.ID, Waiting.Reason.THROTTLED));
            assertThat(worker.step()).isEqualTo(new Committed(OTHER, 4, 0, false));
            assertThat(another.worker("b").step()).isEqualTo(new NothingToDo());
            assertThat(harness.row(Counters.ID))
                    .containsEntry("claim_token", null)
                    .containsEntry("attempts", "0")
                    .containsEntry("contended", "0")
                    .containsEntry("wait_reason", "throttled");
            assertThat(db.queryBoolean("select next_attempt_at > now() + interval '30 s' from backfill where id = '"
                            + Counters.ID + "'"))
                    .isTrue();
            Waiting waiting = Objects.requireNonNull(another.show(Counters.ID).waiting());
            assertThat(waiting.reason()).isEqualTo(Waiting.Reason.THROTTLED);
            assertThat(waiting.detail()).contains("rows per second");
        }
    }

    @Test
    void a_start_barrier_leaves_its_worker_to_others_and_is_kept() throws Exception { // BB-5, SR-6
        Counters.fresh(db, 20);
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.custom(4), other());
                Connection writer = db.get()) {
            writer.setAutoCommit(false);
            try (Statement write = writer.createStatement()) {
                write.execute("insert into counters (id) values (0)");
            }
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            Eventually.until("the claim is given back", () -> {
                assertThat(worker.step()).isEqualTo(new Waits(Counters.ID, Waiting.Reason.START_BARRIER));
                return harness.row(Counters.ID).get("claim_token") == null;
            });
            String since = harness.row(Counters.ID).get("wait_since");
            assertThat(harness.row(Counters.ID)).containsEntry("attempts", "0");
            assertThat(Objects.requireNonNull(harness.show(Counters.ID).waiting())
                            .reason())
                    .isEqualTo(Waiting.Reason.START_BARRIER);
            harness.start(OTHER);
            assertThat(worker.step()).isEqualTo(new Committed(OTHER, 4, 0, false));
            worker.close();
            harness.clearRetryDelay(Counters.ID);
            db.execute("update backfill set state = 'paused', claim_token = null, claim_expires_at = null where id = '"
                    + OTHER + "'");
            HarnessWorker next = harness.worker("b");
            assertThat(next.step()).isEqualTo(new Waits(Counters.ID, Waiting.Reason.START_BARRIER));
            assertThat(harness.row(Counters.ID)).containsEntry("wait_since", since);
            assertThat(Counters.hits(db)).isEqualTo("00000000000000000000");
            writer.commit();
            harness.clearRetryDelay(Counters.ID);
            assertThat(next.step()).isInstanceOf(Committed.class);
            assertThat(harness.row(Counters.ID)).containsEntry("wait_since", null);
        }
    }

    @Test
    void a_claim_that_waits_is_looked_after_however_rarely_its_worker_polls() throws Exception { // BB-5, CL-4
        Counters.fresh(db, 20);
        Duration second = Duration.ofSeconds(1);
        try (BackfillHarness harness = BackfillHarness.over(db)
                        .definitions(Counters.custom(4))
                        .options(o -> o.workers(1)
                                .poll(Duration.ofMinutes(5))
                                .statementTimeout(second)
                                .idleInTransactionTimeout(second)
                                .transactionTimeout(second)
                                .lease(Duration.ofSeconds(6)))
                        .open();
                Connection writer = db.get()) {
            writer.setAutoCommit(false);
            try (Statement write = writer.createStatement()) {
                write.execute("insert into counters (id) values (0)");
            }
            harness.start(Counters.ID);
            Eventually.until("the claim is given back", () -> {
                var row = harness.row(Counters.ID);
                return "start_barrier".equals(row.get("wait_reason")) && row.get("claim_token") == null;
            });
            // One that had lapsed first would have been charged, and taken anew.
            assertThat(harness.row(Counters.ID)).containsEntry("attempts", "0");
            writer.rollback();
        }
    }

    @Test
    void a_claim_that_expires_further_ahead_than_any_lease_is_taken_over() { // CL-4
        Counters.fresh(db, 20);
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.custom(4))) {
            harness.start(Counters.ID);
            HarnessWorker dead = harness.worker("a");
            assertThat(dead.step()).isInstanceOf(Committed.class);
            dead.vanish();
            // As a server's clock leaves it that was set back by two days.
            db.execute("update backfill set claim_expires_at = claim_expires_at + interval '2 days'");
            assertThat(Objects.requireNonNull(harness.show(Counters.ID).waiting())
                            .reason())
                    .isEqualTo(Waiting.Reason.NO_WORKER);
            assertThat(harness.worker("b").step()).isInstanceOf(Committed.class);
            assertThat(harness.row(Counters.ID)).containsEntry("claim_owner", "b");
        }
    }
}
