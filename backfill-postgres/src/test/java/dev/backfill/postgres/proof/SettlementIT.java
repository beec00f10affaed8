package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.host.StepOutcome;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.FaultyConnections;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** An unknown outcome of COMMIT is settled from the row: the counters, which no repair may raise twice, are the witness. */
@PostgresTest
class SettlementIT {

    private final TestDatabase db;
    private final FaultyConnections faults;

    SettlementIT(TestDatabase db) {
        this.db = db;
        this.faults = FaultyConnections.over(db);
    }

    /** An engine whose second batch plants something right before its fence. */
    private BackfillHarness engine(boolean fused, Consumer<FaultyConnections> plant) {
        Counters.fresh(db, 10);
        AtomicBoolean planted = new AtomicBoolean();
        return BackfillHarness.over(db)
                .connections(faults)
                .definitions(Counters.custom(4, (batch, tx) -> {
                    if (batch.keys().get(0) == 5 && !planted.getAndSet(true)) {
                        plant.accept(faults);
                    }
                    return 0;
                }))
                .options(o -> o.fusedCommit(fused))
                .open();
    }

    private static HarnessWorker afterTheFirstBatch(BackfillHarness harness) {
        harness.start(Counters.ID);
        HarnessWorker worker = harness.worker("a");
        assertThat(worker.step()).isInstanceOf(Committed.class);
        return worker;
    }

    private void everyRowOnceInTheEnd(BackfillHarness harness) {
        faults.assertAllStruck();
        faults.heal();
        harness.clearRetryDelay(Counters.ID);
        harness.runToCompletion(Counters.ID);
        assertThat(Counters.hits(db)).isEqualTo("1111111111");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_commit_that_landed_unheard_is_found_and_not_replayed(boolean fused) { // AT-3, RB-3
        try (BackfillHarness harness = engine(fused, f -> f.after(FaultPoint.commit(), Fault.cut()))) {
            HarnessWorker worker = afterTheFirstBatch(harness);
            long generation = Long.parseLong(harness.row(Counters.ID).get("generation"));
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 4, 4, false));
            assertThat(Counters.hits(db)).isEqualTo("1111111100");
            assertThat(harness.row(Counters.ID))
                    .containsEntry("checkpoint", "{8}")
                    .containsEntry("generation", String.valueOf(generation + 1));
            assertThat(worker.step()).isEqualTo(new Committed(Counters.ID, 2, 2, true));
            assertThat(worker.step()).isEqualTo(new StepOutcome.Completed(Counters.ID));
            everyRowOnceInTheEnd(harness);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_commit_that_never_arrived_is_found_and_the_window_repaired_once(boolean fused) { // AT-3, RB-3
        try (BackfillHarness harness = engine(fused, f -> f.before(FaultPoint.commit(), Fault.cut()))) {
            HarnessWorker worker = afterTheFirstBatch(harness);
            assertThat(worker.step())
                    .isInstanceOfSatisfying(
                            StepOutcome.Retrying.class,
                            retrying -> assertThat(retrying.diagnostic().code())
                                    .isEqualTo(DiagnosticCode.INFRASTRUCTURE.wireName()));
            assertThat(Counters.hits(db)).isEqualTo("1111000000");
            assertThat(harness.row(Counters.ID))
                    .containsEntry("checkpoint", "{4}")
                    .containsEntry("claim_token", null);
            everyRowOnceInTheEnd(harness);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_server_that_ends_the_session_before_the_commit_is_settled_too(boolean fused) { // RB-3
        try (BackfillHarness harness =
                engine(fused, f -> f.before(FaultPoint.tagged("fence"), Fault.run(db::killSessions)))) {
            HarnessWorker worker = afterTheFirstBatch(harness);
            assertThat(worker.step()).isInstanceOf(StepOutcome.Retrying.class);
            everyRowOnceInTheEnd(harness);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_takeover_before_the_question_makes_the_answer_somebody_elses(boolean fused) { // AT-3, CL-6
        AtomicReference<BackfillHarness> engine = new AtomicReference<>();
        Fault takeover = real -> {
            real.abort(Runnable::run);
            engine.get().expireLease(Counters.ID);
            Eventually.until(
                    "the cut transaction is gone",
                    () -> db.queryBoolean(
                            "select not exists (select 1 from"
                                    + " pg_stat_activity where datname = current_database() and application_name like 'backfill #%')"));
            assertThat(engine.get().worker("b").step()).isInstanceOf(Committed.class);
        };
        try (BackfillHarness harness = engine(fused, f -> f.before(FaultPoint.commit(), takeover.then(Fault.cut())))) {
            engine.set(harness);
            assertThat(afterTheFirstBatch(harness).step()).isEqualTo(new StepOutcome.Fenced(Counters.ID, "generation"));
            assertThat(Counters.hits(db)).isEqualTo("1111111100");
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_pause_after_an_unheard_commit_keeps_the_batch_and_stops_the_worker(boolean fused) { // AT-3, LC-4
        AtomicReference<BackfillHarness> engine = new AtomicReference<>();
        Fault pause = Fault.run(() -> engine.get().pause(Counters.ID));
        try (BackfillHarness harness = engine(fused, f -> f.after(FaultPoint.commit(), pause.then(Fault.cut())))) {
            engine.set(harness);
            HarnessWorker worker = afterTheFirstBatch(harness);
            assertThat(worker.step()).isEqualTo(new StepOutcome.Stopped(Counters.ID, BackfillState.PAUSED));
            assertThat(Counters.hits(db)).isEqualTo("1111111100");
            harness.resume(Counters.ID);
            everyRowOnceInTheEnd(harness);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void the_last_commit_unheard_leads_on_to_the_validation(boolean fused) { // AT-3, VA-1
        Counters.fresh(db, 4);
        AtomicBoolean planted = new AtomicBoolean();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .connections(faults)
                .definitions(Counters.custom(4, (batch, tx) -> {
                    if (!planted.getAndSet(true)) {
                        faults.after(FaultPoint.commit(), Fault.cut());
                    }
                    return 0;
                }))
                .options(o -> o.fusedCommit(fused))
                .open()) {
            harness.start(Counters.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
            while (harness.state(Counters.ID) == BackfillState.RUNNING) {
                assertThat(worker.step()).isInstanceOf(Committed.class);
            }
            assertThat(worker.step()).isEqualTo(new StepOutcome.Completed(Counters.ID));
            faults.assertAllStruck();
            assertThat(Counters.hits(db)).isEqualTo("1111");
        }
    }

    @Test
    void an_answer_that_is_lost_as_well_leaves_the_claim_to_its_lease_and_the_rows_repaired_once() { // AT-3, CL-5
        // The claim taken anew is committed, but its owner never hears of it: it can't tell that generation from
        // another's.
        try (BackfillHarness harness = engine(
                true,
                f -> f.after(FaultPoint.commit(), Fault.cut())
                        .after(
                                FaultPoint.tagged("reclaim"),
                                Fault.run(() -> f.after(FaultPoint.commit(), Fault.cut()))))) {
            HarnessWorker worker = afterTheFirstBatch(harness);
            assertThat(worker.step())
                    .isIn(new StepOutcome.Fenced(Counters.ID, "generation"), new Committed(Counters.ID, 4, 4, false));
            assertThat(Counters.hits(db)).isEqualTo("1111111100");
            worker.vanish();
            harness.expireLease(Counters.ID);
            everyRowOnceInTheEnd(harness);
        }
    }

    @Test
    void a_database_that_stays_away_leaves_the_outcome_unknown_and_the_next_owner_reads_the_truth() { // AT-3, RB-1
        Counters.fresh(db, 10);
        AtomicBoolean planted = new AtomicBoolean();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .connections(faults)
                .definitions(Counters.custom(4, (batch, tx) -> {
                    if (batch.keys().get(0) == 5 && !planted.getAndSet(true)) {
                        faults.after(FaultPoint.commit(), Fault.cut());
                        faults.before(FaultPoint.connect(), 1_000_000, Fault.fail("08001"));
                    }
                    return 0;
                }))
                .options(o -> o.scaledToLease(java.time.Duration.ofMillis(1_500)))
                .open()) {
            HarnessWorker worker = afterTheFirstBatch(harness);
            assertThat(worker.step()).isInstanceOf(StepOutcome.Unavailable.class);
            assertThat(Counters.hits(db)).isEqualTo("1111111100");
            faults.heal();
            worker.vanish();
            harness.expireLease(Counters.ID);
            harness.runToCompletion(Counters.ID);
            assertThat(Counters.hits(db)).isEqualTo("1111111111");
        }
    }

    @Test
    void the_question_queues_behind_a_commit_that_is_still_on_its_way() throws Exception { // AT-3
        AtomicReference<Connection> inFlight = new AtomicReference<>();
        try (BackfillHarness harness = engine(true, f -> f.before(FaultPoint.commit(), inFlight::set));
                Connection other = db.get()) {
            HarnessWorker worker = afterTheFirstBatch(harness);
            other.setAutoCommit(false);
            try (Statement lock = other.createStatement()) {
                lock.execute("select 1 from backfill for update");
            }
            Future<StepOutcome> step = worker.stepAside();
            Eventually.until(
                    "the fence waits for the row",
                    () -> step.isDone()
                            || db.queryBoolean("select exists (select 1 from pg_stat_activity"
                                    + " where application_name like 'backfill #%' and wait_event_type = 'Lock')"));
            // The client is gone, the server's end still waits: it may land or time out, and nobody may guess.
            inFlight.get().abort(Runnable::run);
            other.rollback();
            StepOutcome outcome = step.get(60, TimeUnit.SECONDS);
            boolean landed = Counters.hits(db).equals("1111111100");
            assertThat(outcome instanceof Committed).isEqualTo(landed);
            assertThat(harness.row(Counters.ID).get("checkpoint")).isEqualTo(landed ? "{8}" : "{4}");
            worker.close();
            everyRowOnceInTheEnd(harness);
        }
    }
}
