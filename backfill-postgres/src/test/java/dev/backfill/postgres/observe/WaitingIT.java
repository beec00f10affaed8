package dev.backfill.postgres.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillId;
import dev.backfill.Pacing;
import dev.backfill.RetryableException;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Waiting;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.Statement;
import java.time.Duration;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The one answer to "why is it not moving?", each reason brought about for real. */
@PostgresTest
class WaitingIT {

    private static final BackfillId OTHER = BackfillId.of("ledgers.other.v1");

    private final TestDatabase db;

    WaitingIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void fresh() {
        Ledgers.fresh(db, 10);
    }

    private static Waiting waiting(BackfillHarness harness) {
        BackfillSnapshot row = harness.show(Ledgers.ID);
        assertThat(row.waiting()).as("waiting of %s", row).isNotNull();
        return row.waiting();
    }

    @Test
    void nothing_waits_before_the_start_while_it_moves_and_after_the_end() { // RM-2
        try (BackfillHarness harness = BackfillHarness.on(db, Ledgers.counting(5, (batch, tx) -> 0))) {
            assertThat(harness.show(Ledgers.ID).waiting()).isNull();
            harness.start(Ledgers.ID);
            try (var worker = harness.worker("a")) {
                worker.step();
                assertThat(harness.show(Ledgers.ID).waiting()).isNull();
            }
            harness.pause(Ledgers.ID);
            assertThat(harness.show(Ledgers.ID).waiting()).isNull();
            harness.resume(Ledgers.ID);
            harness.runToCompletion(Ledgers.ID);
            assertThat(harness.show(Ledgers.ID).waiting()).isNull();
        }
    }

    @Test
    void after_a_failure_it_is_the_retry_delay() { // RB-2
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Ledgers.counting(5, (batch, tx) -> {
                    throw new RetryableException("later");
                }))
                .options(o -> o.retryBase(Duration.ofHours(10)).retryCap(Duration.ofHours(20)))
                .open()) {
            harness.start(Ledgers.ID);
            harness.worker("a").step();
            assertThat(waiting(harness))
                    .returns(Waiting.Reason.RETRY_DELAY, Waiting::reason)
                    .matches(w -> w.detail().contains("retry-requested") && w.since() != null);
            assertThat(harness.show(Ledgers.ID).retry().nextAt()).isNotNull();
        }
    }

    @Test
    void an_owner_that_has_vanished_holds_the_claim_until_it_lapses_and_then_nobody_has_it() { // CL-4
        try (BackfillHarness harness = BackfillHarness.on(db, Ledgers.counting(5, (batch, tx) -> 0))) {
            harness.start(Ledgers.ID);
            assertThat(waiting(harness).reason()).isEqualTo(Waiting.Reason.NO_WORKER);
            var owner = harness.worker("gone");
            owner.step();
            owner.vanish();
            harness.tamper(Ledgers.ID, "claimed_at", "2026-01-01 00:00:00Z");
            harness.tamper(Ledgers.ID, "last_progress_at", "2026-01-01 00:00:00Z");
            assertThat(waiting(harness))
                    .returns(Waiting.Reason.CLAIM_HELD, Waiting::reason)
                    .matches(w -> w.detail().contains("gone") && w.since() != null);
            harness.expireLease(Ledgers.ID);
            assertThat(waiting(harness))
                    .returns(Waiting.Reason.NO_WORKER, Waiting::reason)
                    .matches(w -> w.detail().contains("gone") && w.since() != null);
        }
    }

    @Test
    void a_process_that_can_not_read_it_says_so() { // ID-5
        try (BackfillHarness knows = BackfillHarness.on(db, Ledgers.counting(5, (batch, tx) -> 0));
                BackfillHarness ignorant = BackfillHarness.on(db)) {
            knows.start(Ledgers.ID);
            assertThat(waiting(ignorant))
                    .returns(Waiting.Reason.UNKNOWN_HERE, Waiting::reason)
                    .matches(w -> w.detail().contains("no definition"));
            knows.tamper(Ledgers.ID, "key_codec", "v1:uuid");
            assertThat(waiting(knows))
                    .returns(Waiting.Reason.UNKNOWN_HERE, Waiting::reason)
                    .matches(w -> w.detail().contains("another type"));
        }
    }

    @Test
    void a_transaction_from_before_the_start_is_named_with_its_process_and_age() throws Exception { // SR-6
        try (BackfillHarness harness = BackfillHarness.on(db, Ledgers.counting(5, (batch, tx) -> 0));
                Connection writer = db.get()) {
            writer.setAutoCommit(false);
            writer.createStatement().execute("insert into ledgers (id) values (7777)");
            long pid = pid(writer);
            harness.start(Ledgers.ID);
            try (var worker = harness.worker("a")) {
                assertThat(worker.step()).isEqualTo(new StepOutcome.Waits(Ledgers.ID, Waiting.Reason.START_BARRIER));
                Waiting first = waiting(harness);
                assertThat(first.reason()).isEqualTo(Waiting.Reason.START_BARRIER);
                assertThat(first.detail()).contains("process " + pid).containsPattern("open for \\d+ s");
                worker.step();
                assertThat(waiting(harness).since()).isEqualTo(first.since());
                writer.rollback();
                assertThat(worker.step()).isInstanceOf(StepOutcome.Committed.class);
                assertThat(harness.show(Ledgers.ID).waiting()).isNull();
            }
        }
    }

    @Test
    void pacing_shows_as_throttled() {
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Ledgers.over(Ledgers.ID.value())
                        .batchSize(2)
                        .pacing(Pacing.unlimited().rowsPerSecond(1))
                        .repair((batch, tx) -> 0)
                        .validate(dev.backfill.Validation.noRowMatches("false"))
                        .build())
                .options(o -> o.scaledToLease(Duration.ofMillis(3_500)))
                .open()) {
            harness.start(Ledgers.ID);
            try (var worker = harness.worker("a")) {
                Eventually.until("it says throttled", () -> {
                    worker.step();
                    Waiting now = harness.show(Ledgers.ID).waiting();
                    return now != null && now.reason() == Waiting.Reason.THROTTLED;
                });
            }
        }
    }

    @Test
    void a_lock_wait_names_who_blocks_and_for_how_long_without_their_query() throws Exception { // AU-5
        Gate gate = new Gate();
        try (BackfillHarness harness = BackfillHarness.over(db)
                        .definitions(Ledgers.counting(5, (batch, tx) -> gate.holdThen(() -> 0)))
                        // A worker that tries again at once, so that it waits for the lock nearly all the time.
                        .options(o -> o.workers(1)
                                .poll(Duration.ofMillis(10))
                                .lockTimeout(Duration.ofMillis(990))
                                .retryBase(Duration.ofMillis(10))
                                .retryCap(Duration.ofMillis(10))
                                .contentionBudget(100_000))
                        .open();
                Connection blocker = db.get()) {
            harness.start(Ledgers.ID);
            // After the first batch began, or the start barrier would wait for the blocker.
            gate.awaitArrival();
            blocker.setAutoCommit(false);
            blocker.createStatement().execute("select 1 /* secret-of-the-blocker */ from ledgers for update");
            gate.open();
            Eventually.until("the lock wait shows", () -> {
                Waiting now = harness.show(Ledgers.ID).waiting();
                return now != null && now.reason() == Waiting.Reason.LOCK_WAIT && isRight(now, blocker);
            });
            blocker.rollback();
            Eventually.until("it goes on", () -> harness.state(Ledgers.ID) == BackfillState.COMPLETED);
        }
    }

    private static boolean isRight(Waiting now, Connection blocker) throws Exception {
        assertThat(now.detail())
                .contains("process " + pid(blocker))
                .containsPattern("open for \\d+ s")
                .doesNotContain("secret");
        assertThat(now.since()).isNotNull();
        return true;
    }

    @Test
    void a_missing_column_shows_as_schema() { // CF-8
        try (BackfillHarness harness = BackfillHarness.on(
                db,
                Ledgers.over(Ledgers.ID.value())
                        .requires("ledgers", "secret", "text")
                        .repair((batch, tx) -> 0)
                        .validate(dev.backfill.Validation.noRowMatches("false"))
                        .build())) {
            harness.start(Ledgers.ID);
            db.execute("alter table ledgers drop column secret");
            assertThat(harness.worker("a").step()).isInstanceOf(StepOutcome.NothingToDo.class);
            assertThat(waiting(harness))
                    .returns(Waiting.Reason.SCHEMA, Waiting::reason)
                    .matches(w -> w.detail().contains("ledgers.secret") && w.since() != null);
        }
    }

    @Test
    void workers_that_are_all_busy_elsewhere_show_as_capacity() {
        Gate gate = new Gate();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(
                        Ledgers.counting(5, (batch, tx) -> 0),
                        Ledgers.counting(OTHER.value(), 5, (batch, tx) -> gate.holdThen(() -> 0)))
                .options(o -> o.workers(1))
                .open()) {
            harness.start(OTHER);
            gate.awaitArrival();
            harness.start(Ledgers.ID);
            Eventually.until("capacity shows", () -> waiting(harness).reason() == Waiting.Reason.CAPACITY);
            gate.open();
        }
    }

    /** Asked in the transaction that is open: behind a pooler the driver's own number is not the server's. */
    private static long pid(Connection connection) throws Exception {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery("select pg_backend_pid()")) {
            row.next();
            return row.getLong(1);
        }
    }
}
