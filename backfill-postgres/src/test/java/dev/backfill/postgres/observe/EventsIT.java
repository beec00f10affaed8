package dev.backfill.postgres.observe;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import dev.backfill.BlockedException;
import dev.backfill.RetryableException;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.spi.BackfillEvent;
import dev.backfill.spi.BackfillEvent.Kind;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Each thing that happens is told once, when it is durable, and to the log in one line at the level that it deserves. */
@PostgresTest
class EventsIT {

    private final TestDatabase db;
    private final Heard heard = new Heard();

    EventsIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void fresh() {
        Ledgers.fresh(db, 10);
    }

    private BackfillHarness harness(dev.backfill.BackfillDefinition<?>... definitions) {
        return BackfillHarness.over(db).definitions(definitions).listener(heard).open();
    }

    @Test
    void a_quiet_run_is_told_from_start_to_completion() { // OB-1
        try (BackfillHarness harness = harness(Ledgers.counting(4, (batch, tx) -> 0))) {
            harness.start(Ledgers.ID);
            var worker = harness.worker("a");
            while (!(worker.step() instanceof StepOutcome.Completed)) {}
        }
        assertThat(heard.all().stream().map(BackfillEvent::kind))
                .containsExactly(
                        Kind.OPERATOR_ACTION,
                        Kind.CLAIMED,
                        Kind.BATCH_ATTEMPTED,
                        Kind.BATCH_COMMITTED,
                        Kind.BATCH_ATTEMPTED,
                        Kind.BATCH_COMMITTED,
                        Kind.BATCH_ATTEMPTED,
                        Kind.BATCH_COMMITTED,
                        Kind.VALIDATING,
                        Kind.VALIDATION_ATTEMPTED,
                        Kind.VALIDATED,
                        Kind.COMPLETED);
        assertThat(heard.of(Kind.BATCH_COMMITTED).stream().map(BackfillEvent::rowsScanned))
                .containsExactly(4L, 4L, 2L);
        assertThat(heard.of(Kind.COMPLETED).get(0).who()).isEqualTo("a");
        assertThat(heard.of(Kind.OPERATOR_ACTION).get(0))
                .returns("start.applied", BackfillEvent::code)
                .returns("test-operator", BackfillEvent::who)
                .matches(e -> e.requestId() != null && e.generation() == 1 && e.took() != null);
    }

    @Test
    void a_claim_given_back_taken_over_fenced_and_stopped_is_told_as_what_it_was() { // CL-6, OB-1
        try (Logged logged = new Logged();
                BackfillHarness harness = harness(Ledgers.counting(1, (batch, tx) -> 0))) {
            harness.start(Ledgers.ID);
            var released = harness.worker("released");
            released.step();
            released.close();
            var stale = harness.worker("stale");
            stale.step();
            harness.expireLease(Ledgers.ID);
            var next = harness.worker("next");
            next.step();
            assertThat(stale.step()).isInstanceOf(StepOutcome.Fenced.class);
            harness.pause(Ledgers.ID);
            assertThat(next.step()).isInstanceOf(StepOutcome.Stopped.class);
            heard.await(Kind.STOPPED, 1);

            assertThat(heard.of(Kind.RELEASED)).hasSize(1).allMatch(e -> "released".equals(e.who()));
            assertThat(heard.of(Kind.TAKEN_OVER)).hasSize(1).allMatch(e -> "next".equals(e.who()));
            assertThat(heard.of(Kind.FENCED))
                    .hasSize(1)
                    .allMatch(e -> "stale".equals(e.who()) && "generation".equals(e.code()));
            assertThat(heard.of(Kind.STOPPED))
                    .hasSize(1)
                    .allMatch(e -> "next".equals(e.who()) && "paused".equals(e.code()));

            assertThat(logged.of("fenced"))
                    .hasSize(1)
                    .allMatch(l -> l.getLevel() == Level.WARN)
                    .allMatch(l ->
                            Logged.pairs(l).keySet().containsAll(List.of("backfill", "generation", "owner", "code")));
            assertThat(logged.of("stopped")).hasSize(1).allMatch(l -> l.getLevel() == Level.INFO);
            assertThat(logged.of("taken_over"))
                    .hasSize(1)
                    .allMatch(l -> "stale".equals(Logged.pairs(l).get("former_owner")));
            assertThat(logged.of("batch_committed")).hasSize(3).allMatch(l -> l.getLevel() == Level.DEBUG);
            assertThat(logged.of("operator_action"))
                    .allMatch(l -> Logged.pairs(l).containsKey("request_id"));
        }
    }

    @Test
    void a_failure_record_that_meets_a_pause_says_that_it_was_stopped() throws Exception { // LC-4
        Gate gate = new Gate();
        try (BackfillHarness harness = harness(Ledgers.counting(1, (batch, tx) -> {
            gate.hold();
            throw new RetryableException("later");
        }))) {
            harness.start(Ledgers.ID);
            var step = harness.worker("a").stepAside();
            gate.awaitArrival();
            harness.pause(Ledgers.ID);
            gate.open();
            assertThat(step.get(60, TimeUnit.SECONDS))
                    .isEqualTo(new StepOutcome.Stopped(Ledgers.ID, BackfillState.PAUSED));
            heard.await(Kind.STOPPED, 1);
            assertThat(heard.of(Kind.FENCED)).isEmpty();
            assertThat(heard.of(Kind.RETRY_SCHEDULED)).isEmpty();
        }
    }

    @Test
    void retry_narrowing_blocked_and_failed_are_told_apart() { // RB, OB-1
        AtomicReference<Exception> next = new AtomicReference<>();
        try (BackfillHarness harness = harness(Ledgers.counting(2, (batch, tx) -> {
            Exception thrown = next.get();
            if (thrown instanceof java.sql.SQLException && !batch.keys().contains(1L)) {
                return 0; // of one row
            }
            throw thrown;
        }))) {
            harness.start(Ledgers.ID);
            var worker = harness.worker("a");
            next.set(new RetryableException("later"));
            worker.step();
            harness.clearRetryDelay(Ledgers.ID);
            next.set(new java.sql.SQLException("a row", "23505"));
            worker.step();
            worker.step();
            harness.retry(Ledgers.ID);
            next.set(new BlockedException("a prerequisite"));
            worker.step();
            harness.retry(Ledgers.ID);
            harness.tamper(Ledgers.ID, "attempts", "9");
            next.set(new RetryableException("once too often"));
            worker.step();
            heard.await(Kind.FAILED, 1);
            assertThat(heard.of(Kind.RETRY_SCHEDULED).stream().map(BackfillEvent::code))
                    .containsExactly("retry-requested");
            assertThat(heard.of(Kind.NARROWED).stream().map(BackfillEvent::code))
                    .containsExactly("data-error");
            assertThat(heard.of(Kind.BLOCKED).stream().map(BackfillEvent::code))
                    .containsExactly("data-error", "blocked-by-definition");
            assertThat(heard.of(Kind.FAILED).stream().map(BackfillEvent::code)).containsExactly("retry-requested");
        }
    }

    @Test
    void an_owner_that_dies_again_and_again_is_told_once_and_after_the_audit_record() { // RB-5
        try (BackfillHarness harness = harness(Ledgers.counting(2, (batch, tx) -> 0))) {
            harness.start(Ledgers.ID);
            harness.tamper(Ledgers.ID, "attempts", "10");
            assertThat(harness.worker("a").step()).isInstanceOf(StepOutcome.NothingToDo.class);
            assertThat(harness.worker("b").step()).isInstanceOf(StepOutcome.NothingToDo.class);
            heard.await(Kind.FAILED, 1);
            assertThat(heard.of(Kind.FAILED)).hasSize(1).allMatch(e -> "owner-lost-repeatedly".equals(e.code()));
        }
    }

    @Test
    void what_is_found_again_at_every_poll_is_told_once_until_it_changes() { // ID-5, CF-8
        try (BackfillHarness knows = harness(Ledgers.counting(2, (batch, tx) -> 0));
                Logged logged = new Logged();
                BackfillHarness ignorant = harness()) {
            knows.start(Ledgers.ID);
            var idle = ignorant.worker("idle");
            for (int i = 0; i < 5; i++) {
                idle.step();
            }
            heard.await(Kind.UNKNOWN_HERE, 1);
            assertThat(heard.of(Kind.UNKNOWN_HERE)).hasSize(1).allMatch(e -> "no-definition".equals(e.code()));
            assertThat(logged.of("unknown_here")).hasSize(1).allMatch(l -> l.getLevel() == Level.INFO);
        }
    }

    @Test
    void a_schema_miss_is_told_when_it_changes() { // CF-8
        try (BackfillHarness harness = harness(Ledgers.counting(2, (batch, tx) -> 0))) {
            harness.start(Ledgers.ID);
            db.execute("alter table ledgers rename to ledgers_elsewhere");
            var worker = harness.worker("a");
            for (int i = 0; i < 4; i++) {
                assertThat(worker.step()).isInstanceOf(StepOutcome.NothingToDo.class);
            }
            db.execute("alter table ledgers_elsewhere rename to ledgers");
            assertThat(worker.step()).isInstanceOf(StepOutcome.Committed.class);
            worker.close();
            db.execute("alter table ledgers rename to ledgers_elsewhere");
            var other = harness.worker("b");
            other.step();
            other.step();
            heard.await(Kind.SCHEMA_INCOMPATIBLE, 2);
            assertThat(heard.of(Kind.SCHEMA_INCOMPATIBLE)).hasSize(2).allMatch(e -> "table_missing".equals(e.code()));
        }
    }

    @Test
    void operators_validations_and_refusals_are_told_with_their_outcome() { // EV-6, AU-6
        try (BackfillHarness harness = harness(Ledgers.counting(4, (batch, tx) -> 0))) {
            harness.validate(Ledgers.ID);
            harness.pause(Ledgers.ID);
            harness.start(Ledgers.ID);
            harness.start(Ledgers.ID);
            try (var worker = harness.worker("first")) {
                worker.step();
            }
            harness.validate(Ledgers.ID);
            harness.runToCompletion(Ledgers.ID);
            harness.validate(Ledgers.ID);
            harness.show(Ledgers.ID);
            heard.await(Kind.DIAGNOSTICS_READ, 1);
            assertThat(heard.of(Kind.OPERATOR_ACTION).stream().map(BackfillEvent::code))
                    .containsExactly(
                            "validate.current_state",
                            "pause.illegal_transition",
                            "start.applied",
                            "start.converged",
                            "validate.failure",
                            "validate.success");
            assertThat(heard.of(Kind.VALIDATED).stream().map(e -> e.code() + (e.requestId() == null)))
                    .containsExactly("failurefalse", "successtrue", "successfalse");
            assertThat(heard.of(Kind.DIAGNOSTICS_READ))
                    .allMatch(e -> "show".equals(e.code()) && "test-operator".equals(e.who()));
        }
    }
}
