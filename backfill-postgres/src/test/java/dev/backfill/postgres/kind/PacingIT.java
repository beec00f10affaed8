package dev.backfill.postgres.kind;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.BackfillDefinition;
import dev.backfill.Pacing;
import dev.backfill.host.HealthLimits;
import dev.backfill.host.StepOutcome;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.operate.AccessDeniedException;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.Authority;
import dev.backfill.operate.HealthSignal;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Pace;
import dev.backfill.operate.UnknownBackfillException;
import dev.backfill.operate.Waiting;
import dev.backfill.spi.BackfillEvent;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The throttle faults: pace and health slow a backfill visibly, and cost it nothing. */
@PostgresTest
class PacingIT {

    private static final Pacing SLOW = Pacing.unlimited().rowsPerSecond(1);

    private final TestDatabase db;

    PacingIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void rows() {
        Notes.fill(db, 100);
    }

    @AfterEach
    void nothing_is_left() {
        db.clear();
    }

    private static OperatorRequest request(String requestId) {
        return new OperatorRequest(Notes.ID, requestId, BackfillHarness.OPERATOR, "traffic is high");
    }

    private static Pace.Outcome pace(BackfillHarness harness, String requestId, @Nullable Pacing pacing) {
        return harness.operations().pace(request(requestId), pacing);
    }

    private static Pace inForce(Pace.Outcome outcome) {
        return ((Pace.Outcome.InForce) outcome).now();
    }

    private static HealthSignal signal(BackfillHarness harness, String name) {
        return harness.operations().pace(BackfillHarness.OPERATOR, Notes.ID).signals().stream()
                .filter(s -> s.name().equals(name))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void a_rest_of_more_than_an_hour_is_kept() {
        db.execute("insert into notes select g, g from generate_series(101, 5000) g");
        try (BackfillHarness harness =
                BackfillHarness.on(db, Notes.seeing(4_000).pacing(SLOW).build())) {
            harness.start(Notes.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
            assertThat(worker.step()).isEqualTo(new StepOutcome.Waits(Notes.ID, Waiting.Reason.THROTTLED));
            assertThat(Objects.requireNonNull(harness.show(Notes.ID).waiting()).detail())
                    .containsPattern("resting for another 39\\d\\d s");
        }
    }

    @Test
    void a_rest_is_visible_gives_the_claim_back_and_is_charged_nothing() { // BB-5
        BackfillDefinition<Long> definition =
                Notes.seeing(50).pacing(Pacing.unlimited().rowsPerSecond(1)).build();
        List<BackfillEvent> events = new CopyOnWriteArrayList<>();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(definition)
                .listener(events::add)
                .open()) {
            harness.start(Notes.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
            for (int i = 0; i < 3; i++) {
                assertThat(worker.step()).isEqualTo(new StepOutcome.Waits(Notes.ID, Waiting.Reason.THROTTLED));
                assertThat(worker.step()).isEqualTo(new StepOutcome.NothingToDo());
                harness.clearRetryDelay(Notes.ID);
            }
            assertThat(worker.step()).isInstanceOf(StepOutcome.Waits.class);
            Waiting waiting = harness.show(Notes.ID).waiting();
            assertThat(waiting).isNotNull();
            assertThat(waiting.reason()).isEqualTo(Waiting.Reason.THROTTLED);
            assertThat(waiting.detail()).contains("1 rows per second");
            assertThat(harness.row(Notes.ID)).containsEntry("attempts", "0").containsEntry("contended", "0");
            assertThat(harness.row(Notes.ID)).containsEntry("claim_token", null);
            assertThat(events)
                    .filteredOn(e -> e.kind() == BackfillEvent.Kind.THROTTLED)
                    .extracting(BackfillEvent::code)
                    .containsExactly("pace");
        }
    }

    @Test
    void an_operator_slows_a_running_backfill_down_and_lets_it_go_again_during_its_rest() {
        BackfillDefinition<Long> definition = Notes.seeing(50).build();
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(Notes.ID);
            HarnessWorker worker = harness.worker("a");
            Map<String, @Nullable String> before = harness.row(Notes.ID);
            assertThat(inForce(pace(harness, "slow", SLOW)).pacing()).isEqualTo(SLOW);
            assertThat(harness.row(Notes.ID)).isEqualTo(before);
            assertThat(worker.step()).isInstanceOf(Committed.class);
            assertThat(worker.step()).isInstanceOf(StepOutcome.Waits.class);
            assertThat(inForce(pace(harness, "own", null)).byOperator()).isFalse();
            // The rest under the old pace would have been 50 s.
            Eventually.within(Duration.ofSeconds(30))
                    .holds("the new pace is noticed", () -> worker.step() instanceof Committed);
        }
    }

    @Test
    void wal_is_measured_and_limited() {
        BackfillDefinition<Long> definition = Notes.seeing(50)
                .pacing(Pacing.unlimited().walBytesPerSecond(10))
                .build();
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(Notes.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
            assertThat(worker.step()).isEqualTo(new StepOutcome.Waits(Notes.ID, Waiting.Reason.THROTTLED));
            assertThat(Objects.requireNonNull(harness.show(Notes.ID).waiting()).detail())
                    .contains("10 WAL bytes per second");
        }
    }

    @Test
    void a_pace_is_set_once_per_request_and_audited() { // IK-2, IK-3, AU-3
        BackfillDefinition<Long> definition = Notes.seeing(50).build();
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            Pace.Outcome first = pace(harness, "r1", SLOW);
            assertThat(inForce(first).byOperator()).isTrue();
            assertThat(inForce(first).setBy()).isEqualTo("test-operator");
            pace(harness, "r2", Pacing.unlimited());
            Pace.Outcome again = pace(harness, "r1", SLOW);
            assertThat(((Pace.Outcome.InForce) again).replayed()).isTrue();
            assertThat(inForce(again).pacing()).isEqualTo(Pacing.unlimited());
            Pace.Outcome other = pace(harness, "r1", Pacing.unlimited());
            assertThat(((Pace.Outcome.Refused) other).conflict().code()).isEqualTo(ConflictCode.REQUEST_ID_REUSED);
            pace(harness, "r3", Pacing.unlimited());
            assertThat(harness.auditRecords(Notes.ID))
                    .extracting(r -> r.get("action") + " " + r.get("outcome") + " " + r.get("prior_state"))
                    .containsExactly(
                            "pace applied pending",
                            "pace applied pending",
                            "pace replayed pending",
                            "pace request_id_reused pending",
                            "pace converged pending");
            assertThat(harness.auditRecords(Notes.ID))
                    .extracting(r -> r.get("note"))
                    .containsOnly("traffic is high");
        }
    }

    @Test
    void a_request_that_was_stored_under_an_older_form_gets_its_answer_and_another_pace_does_not() { // IK-2, IK-3
        try (BackfillHarness harness = BackfillHarness.on(db, Notes.seeing(50).build())) {
            Pacing pacing =
                    Pacing.unlimited().pauseRatio(1.5).rowsPerSecond(5_000).targetBatchTime(Duration.ofMillis(250));
            // As the library wrote them while the text of a pace was that of the Java record.
            db.execute(
                    "insert into backfill_request (request_id, action, id, actor, result, prior_state, resulting_state,"
                            + " generation, code, message, answered_at) select r.request_id, 'pace', 'notes.v1',"
                            + " 'operator:test-operator', 'applied', 'pending', 'pending', 0, 'pace', r.message, now() from (values"
                            + " ('old', 'Pacing[pauseRatio=1.5, rowsPerSecond=5000, walBytesPerSecond=null, targetBatchTime=PT0.25S]'),"
                            + " ('old-own', 'the definition''s own')) as r (request_id, message)");
            assertThat(inForceOf(pace(harness, "old", pacing)).replayed()).isTrue();
            assertThat(inForceOf(pace(harness, "old-own", null)).replayed()).isTrue();
            assertReused(pace(harness, "old", Pacing.unlimited()));
            assertReused(pace(harness, "old-own", pacing));
            // And as it is written now.
            assertThat(inForceOf(pace(harness, "new", pacing)).replayed()).isFalse();
            assertThat(inForceOf(pace(harness, "new", pacing)).replayed()).isTrue();
            assertReused(pace(harness, "new", null));
            assertThat(db.queryText("select parameters from backfill_request where request_id = 'new'"))
                    .isEqualTo("pace/1 pause_ratio=1.5 rows_per_second=5000 target_batch_millis=250");
        }
    }

    private static Pace.Outcome.InForce inForceOf(Pace.Outcome outcome) {
        return (Pace.Outcome.InForce) outcome;
    }

    private static void assertReused(Pace.Outcome outcome) {
        assertThat(((Pace.Outcome.Refused) outcome).conflict().code()).isEqualTo(ConflictCode.REQUEST_ID_REUSED);
    }

    @Test
    void a_pace_needs_the_capability_and_a_known_backfill() { // AU-1
        try (BackfillHarness harness = BackfillHarness.on(db, Notes.seeing(50).build())) {
            OperatorRequest stranger = new OperatorRequest(Notes.ID, "x", Authority.operator("stranger"), null);
            assertThatThrownBy(() -> harness.operations().pace(stranger, SLOW))
                    .isInstanceOf(AccessDeniedException.class);
            OperatorRequest unknown =
                    new OperatorRequest(dev.backfill.BackfillId.of("no.such"), "y", BackfillHarness.OPERATOR, null);
            assertThatThrownBy(() -> harness.operations().pace(unknown, SLOW))
                    .isInstanceOf(UnknownBackfillException.class);
            assertThat(db.queryLong("select count(*) from backfill_pace")).isZero();
        }
    }

    @Test
    void a_batch_shrinks_on_timeouts_and_grows_back_to_the_declared_size_and_no_further() { // BB-1, BB-4
        List<Integer> sizes = new ArrayList<>();
        BackfillDefinition<Long> definition = Notes.custom(16, (batch, tx) -> {
            sizes.add(batch.size());
            if (batch.size() > 4 && batch.keys().get(0) <= 16) {
                throw new SQLException("too slow", "57014");
            }
            return 0;
        });
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(Notes.ID);
            HarnessWorker worker = harness.worker("a");
            for (int i = 0; i < 9; i++) {
                worker.step();
                harness.clearRetryDelay(Notes.ID);
            }
        }
        assertThat(sizes).containsExactly(16, 8, 4, 4, 4, 4, 8, 16, 16);
    }

    @Test
    void a_strained_database_throttles_with_value_and_limit_until_it_recovers() {
        AtomicReference<Double> p99 = new AtomicReference<>(900.0);
        HealthLimits limits = HealthLimits.builder()
                .every(Duration.ZERO)
                .poolWait(null)
                .probe(() -> new HealthSignal("request_p99", p99.get(), 250.0, "ms", "the host's own timer"))
                .build();
        List<BackfillEvent> events = new CopyOnWriteArrayList<>();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Notes.seeing(50).build())
                .options(o -> o.health(limits))
                .listener(events::add)
                .open()) {
            harness.start(Notes.ID);
            HarnessWorker worker = harness.worker("a");
            assertThat(worker.step()).isEqualTo(new StepOutcome.Waits(Notes.ID, Waiting.Reason.THROTTLED));
            assertThat(worker.step()).isInstanceOf(StepOutcome.Waits.class);
            assertThat(Objects.requireNonNull(harness.show(Notes.ID).waiting()).detail())
                    .isEqualTo("request_p99 is 900 ms, above its limit of 250 (the host's own timer).");
            assertThat(db.queryLong("select count(*) from notes where seen > 0"))
                    .isZero();
            p99.set(200.0);
            assertThat(worker.step()).isInstanceOf(Committed.class);
            assertThat(harness.show(Notes.ID).waiting()).isNull();
            assertThat(events)
                    .filteredOn(e -> e.kind() == BackfillEvent.Kind.THROTTLED)
                    .extracting(BackfillEvent::code)
                    .containsExactly("request_p99");
        }
    }

    @Test
    void what_can_not_be_measured_is_not_available_and_never_healthy() { // RM-2
        HealthLimits limits = HealthLimits.builder()
                .every(Duration.ZERO)
                .poolWait(Duration.ofMinutes(1))
                .probe(() -> {
                    throw new IllegalStateException("no metrics today");
                })
                .build();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Notes.seeing(50).build())
                .options(o -> o.health(limits))
                .open()) {
            Pace pace = harness.operations().pace(BackfillHarness.OPERATOR, Notes.ID);
            assertThat(pace.signals())
                    .extracting(s -> s.name() + " " + s.status().wireName())
                    .containsExactly(
                            "replica_lag not_available",
                            "slot_retention not_available",
                            "archiver_backlog not_available",
                            "autovacuum no_limit",
                            "lock_waits_caused not_available",
                            "pool_wait within_limit",
                            "host not_available");
            assertThat(pace.signals()).allSatisfy(s -> assertThat(s.source()).isNotBlank());
            harness.start(Notes.ID);
            assertThat(harness.worker("a").step()).isInstanceOf(Committed.class);
        }
    }

    @Test
    void a_slot_that_holds_wal_back_is_seen() {
        db.execute("select pg_create_physical_replication_slot('kind_slot', true)");
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Notes.seeing(50).build())
                .options(o -> o.health(HealthLimits.defaults()))
                .open()) {
            HealthSignal slot = signal(harness, "slot_retention");
            assertThat(slot.status()).isEqualTo(HealthSignal.Status.WITHIN_LIMIT);
            assertThat(slot.value()).isNotNegative();
        } finally {
            db.execute("select pg_drop_replication_slot('kind_slot')");
        }
    }

    @Test
    void sessions_that_wait_for_a_batch_are_counted_and_give_it_pause() throws Exception {
        Gate gate = new Gate();
        BackfillDefinition<Long> definition = Notes.custom(10, (batch, tx) -> {
            try (var statement = tx.connection().createStatement()) {
                statement.execute("update notes set seen = 1 where id <= 10");
            }
            gate.hold();
            return 10;
        });
        HealthLimits limits = HealthLimits.builder()
                .every(Duration.ZERO)
                .lockWaits(0L)
                .poolWait(null)
                .build();
        try (BackfillHarness harness = BackfillHarness.over(db)
                        .definitions(definition)
                        .options(o -> o.health(limits))
                        .open();
                var application = db.connection();
                var statement = application.createStatement()) {
            harness.start(Notes.ID);
            HarnessWorker worker = harness.worker("a");
            var batch = worker.stepAside();
            gate.awaitArrival();
            Thread waiter = running(() -> statement.execute("update notes set n = 0 where id = 1"));
            Eventually.until(
                    "the application waits for the batch",
                    () -> db.queryLong("select count(*) from pg_locks where not granted") > 0);
            gate.open();
            assertThat(batch.get()).isInstanceOf(Committed.class);
            waiter.join();
            HealthSignal waits = signal(harness, "lock_waits_caused");
            assertThat(waits.value()).isEqualTo(1.0);
            assertThat(waits.status()).isEqualTo(HealthSignal.Status.ABOVE_LIMIT);
        }
    }

    private interface Statements {
        void run() throws SQLException;
    }

    private static Thread running(Statements statements) {
        Thread thread = new Thread(() -> {
            try {
                statements.run();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
        thread.start();
        return thread;
    }
}
