package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Family;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.ValidationOutcome;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Rehearsal;
import dev.backfill.operate.Waiting;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.io.IOError;
import java.io.IOException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The engine's own deadline (BB-2): code that does not come back loses its claim, and takes no second thread with it. */
@PostgresTest
class DeadlineIT {

    private static final BackfillId OTHER = BackfillId.of("counters.other.v1");

    private final TestDatabase db;
    private final AtomicInteger entries = new AtomicInteger();
    private final CountDownLatch release = new CountDownLatch(1);

    DeadlineIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void fresh() {
        Counters.fresh(db, 10);
    }

    /** As short as the builder allows, for the engine's deadline is what is waited for. */
    private BackfillHarness engine(int workers, BackfillDefinition<?>... definitions) {
        return BackfillHarness.over(db)
                .definitions(definitions)
                .options(o -> quick(o).workers(workers))
                .open();
    }

    private static EngineOptions.Builder quick(EngineOptions.Builder options) {
        Duration second = Duration.ofSeconds(1);
        return options.statementTimeout(second)
                .transactionTimeout(second)
                .idleInTransactionTimeout(second)
                .validationTimeout(second)
                .lease(Duration.ofSeconds(2))
                .poll(Duration.ofMillis(50))
                .retryBase(Duration.ofMillis(50))
                .retryCap(Duration.ofMillis(100))
                .closeTimeout(Duration.ofSeconds(2));
    }

    // Not even an interrupt reaches it.
    private long deaf() {
        while (true) {
            try {
                release.await();
                return 0;
            } catch (InterruptedException e) {
                // deaf
            }
        }
    }

    private BackfillDefinition<Long> enteredOnceBy(Repair.Custom<Long> first) {
        return Counters.custom(10, (batch, tx) -> entries.incrementAndGet() == 1 ? first.repair(batch, tx) : 0);
    }

    private static BackfillDefinition<Long> other() {
        return Counters.over(OTHER.value())
                .repair(Repair.update().set("note", "'seen'").where("note IS NULL"))
                .validate(Validation.noRowMatches("note IS NULL"))
                .build();
    }

    private static void completes(BackfillHarness harness, String why) {
        Eventually.until(why, () -> harness.state(Counters.ID) == BackfillState.COMPLETED);
    }

    private static void completesTheOther(BackfillHarness harness) {
        harness.start(OTHER);
        Eventually.until("the other completes", () -> harness.state(OTHER) == BackfillState.COMPLETED);
    }

    private static void saysThatItIsCaught(BackfillHarness harness) {
        Eventually.until("no delay is left and the reason is said", () -> {
            Waiting waiting = harness.show(Counters.ID).waiting();
            return waiting != null
                    && waiting.reason() == Waiting.Reason.CAPACITY
                    && waiting.detail().contains("stuck in the definition's code");
        });
    }

    private static Rehearsal.Outcome rehearse(BackfillHarness harness) {
        return harness.operations()
                .rehearse(new OperatorRequest(
                        Counters.ID, BackfillHarness.newRequestId(), BackfillHarness.OPERATOR, null));
    }

    private void failsWithTheDeadline(BackfillHarness harness, BackfillId id) {
        Eventually.until(
                "the overrun is recorded",
                () -> "deadline-passed".equals(harness.row(id).get("failure_code")));
    }

    @Test
    void code_that_never_comes_back_loses_its_claim_and_catches_one_thread_only() { // BB-2, RB-1
        BackfillDefinition<Long> endless = enteredOnceBy((batch, tx) -> deaf());
        try (BackfillHarness harness = engine(2, endless, other())) {
            harness.start(Counters.ID);
            failsWithTheDeadline(harness, Counters.ID);
            // The process lives, and its other thread looks for work again and again: it does all that there is but
            // this.
            completesTheOther(harness);
            saysThatItIsCaught(harness);
            assertThat(row(harness)).containsEntry("claim_token", null).containsEntry("attempts", "1");
            assertThat(entries).hasValue(1);
            assertThat(Counters.hits(db)).isEqualTo("0000000000");
            release.countDown();
            completes(harness, "once it has come back the work goes on");
            assertThat(Counters.hits(db)).isEqualTo("1111111111");
        } finally {
            release.countDown();
        }
    }

    @Test
    void a_rehearsal_of_code_that_has_caught_a_worker_takes_no_second_thread() { // BB-2
        BackfillDefinition<Long> endless = enteredOnceBy((batch, tx) -> deaf());
        try (BackfillHarness harness = engine(1, endless)) {
            harness.start(Counters.ID);
            failsWithTheDeadline(harness, Counters.ID);
            assertThatThrownBy(() -> rehearse(harness)).isInstanceOf(BackfillUnavailableException.class);
            assertThat(entries).hasValue(1);
        } finally {
            release.countDown();
        }
    }

    @Test
    void a_worker_is_not_sent_into_code_that_has_caught_a_rehearsal() { // BB-2
        BackfillDefinition<Long> endless = enteredOnceBy((batch, tx) -> deaf());
        try (BackfillHarness harness = engine(1, endless, other())) {
            assertThat(rehearse(harness)).isInstanceOf(Rehearsal.Outcome.Rehearsed.class);
            harness.start(Counters.ID);
            // Its only thread looks, and does all that there is but this.
            completesTheOther(harness);
            saysThatItIsCaught(harness);
            assertThat(entries).hasValue(1);
            assertThat(row(harness)).containsEntry("attempts", "0");
            release.countDown();
            completes(harness, "once it has come back the work goes on");
            assertThat(Counters.hits(db)).isEqualTo("1111111111");
        } finally {
            release.countDown();
        }
    }

    @Test
    void code_that_waits_too_long_is_interrupted_and_tried_again() { // BB-2, BB-3
        BackfillDefinition<Long> waiting = enteredOnceBy((batch, tx) -> {
            release.await();
            return 0;
        });
        try (BackfillHarness harness = engine(1, waiting)) {
            harness.start(Counters.ID);
            completes(harness, "the second attempt completes");
            assertThat(entries.get()).isGreaterThan(1);
            assertThat(Counters.hits(db)).isEqualTo("1111111111");
        }
    }

    private void assertOverdue(BackfillHarness harness) {
        harness.start(Counters.ID);
        Eventually.until("the only attempt is used up", () -> harness.state(Counters.ID) == BackfillState.FAILED);
        assertThat(row(harness)).containsEntry("failure_code", "deadline-passed");
        assertThat(Counters.hits(db)).isEqualTo("0000000000");
    }

    @Test
    void an_interrupted_batch_is_recorded_as_overdue_and_charged() { // BB-2, RB-5
        BackfillDefinition<Long> waiting = Counters.custom(10, (batch, tx) -> {
            release.await();
            return 0;
        });
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(waiting)
                .options(o -> quick(o).workers(1).maxAttempts(1))
                .open()) {
            assertOverdue(harness);
        }
    }

    @Test
    void code_that_swallows_the_interrupt_and_returns_is_overdue_all_the_same() { // BB-2, AT-1
        BackfillDefinition<Long> swallowing = Counters.over(Counters.ID.value())
                .repair((batch, tx) -> {
                    long changed = Counters.count(tx, batch.keys());
                    try {
                        release.await();
                    } catch (InterruptedException e) {
                        return changed;
                    }
                    return changed;
                })
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(swallowing)
                .options(o -> quick(o).workers(1)
                        .idleInTransactionTimeout(Duration.ofSeconds(30))
                        .maxAttempts(1))
                .open()) {
            assertOverdue(harness);
        }
    }

    @Test
    void a_step_that_breaks_the_engine_is_not_repeated_under_its_claim() { // RB-2, RB-5
        AtomicInteger broken = new AtomicInteger();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Counters.custom(10))
                .connections(() -> {
                    boolean batch = StackWalker.getInstance()
                            .walk(frames ->
                                    frames.anyMatch(f -> f.getClassName().endsWith(".BatchRunner")));
                    if (batch) {
                        broken.incrementAndGet();
                        return (Connection) Proxy.newProxyInstance(
                                getClass().getClassLoader(),
                                new Class<?>[] {Connection.class},
                                (self, method, args) -> {
                                    throw new IllegalStateException("a defect of the host's pool");
                                });
                    }
                    return db.get();
                })
                .options(o -> quick(o).workers(1).maxAttempts(3))
                .open()) {
            harness.start(Counters.ID);
            Eventually.until("its attempts are used up", () -> harness.state(Counters.ID) == BackfillState.FAILED);
            assertThat(row(harness)).containsEntry("failure_code", "owner-lost-repeatedly");
            assertThat(broken).as("one step for each claim").hasValue(3);
        }
    }

    @Test
    void a_validation_that_never_comes_back_loses_its_claim_too() { // BB-2, VA-3
        BackfillDefinition<Long> endless = Counters.over(Counters.ID.value())
                .repair((batch, tx) -> Counters.count(tx, batch.keys()))
                .validate((Validation.Custom<Long>) tx -> {
                    if (entries.incrementAndGet() == 1) {
                        deaf();
                    }
                    return ValidationOutcome.holds();
                })
                .build();
        try (BackfillHarness harness = engine(2, endless)) {
            harness.start(Counters.ID);
            failsWithTheDeadline(harness, Counters.ID);
            assertThat(harness.state(Counters.ID)).isEqualTo(BackfillState.VALIDATING);
            assertThat(entries).hasValue(1);
            release.countDown();
            completes(harness, "it is validated anew");
            assertThat(entries.get()).isGreaterThan(1);
        } finally {
            release.countDown();
        }
    }

    @Test
    void a_family_is_one_code_and_catches_one_thread_only() { // BB-2
        BackfillDefinition<Long> endless = Counters.custom(5, (batch, tx) -> {
            entries.incrementAndGet();
            deaf();
            return 0;
        });
        BackfillId part = Family.partId(Counters.ID, 0);
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(endless.inRanges(2))
                .definitions(other())
                .options(o -> quick(o).workers(2))
                .open()) {
            harness.start(part);
            failsWithTheDeadline(harness, part);
            harness.start(Family.partId(Counters.ID, 1));
            completesTheOther(harness);
            assertThat(entries).hasValue(1);
        } finally {
            release.countDown();
        }
    }

    static Stream<Arguments> errors() {
        return Stream.of(
                Arguments.of("of the platform", new IOError(new IOException("disk"))),
                Arguments.of("of a language", new Error("of some other kind")),
                Arguments.of("of a virtual machine", new InternalError("machine")));
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("errors")
    void an_error_is_the_definitions_failure_and_costs_no_thread(String name, Error error) { // RB-1, CF-5
        BackfillDefinition<Long> repair = Counters.custom(10, (batch, tx) -> {
            if (release.getCount() > 0) {
                throw error;
            }
            return 0;
        });
        BackfillId other = BackfillId.of("counters.other.v1");
        BackfillDefinition<Long> validation = Counters.over(other.value())
                .repair((batch, tx) -> 0)
                .validate((Validation.Custom<Long>) tx -> {
                    throw error;
                })
                .build();
        try (BackfillHarness harness = engine(1, repair, validation)) {
            harness.start(other);
            Eventually.until(
                    "a validation that throws is recorded",
                    () -> "definition-error".equals(harness.row(other).get("failure_code")));
            harness.start(Counters.ID);
            Eventually.until(
                    name,
                    () -> "definition-error".equals(harness.row(Counters.ID).get("failure_code")));
            release.countDown();
            Eventually.until("it goes on", () -> {
                if (harness.state(Counters.ID) == BackfillState.FAILED) {
                    harness.retry(Counters.ID);
                }
                return harness.state(Counters.ID) == BackfillState.COMPLETED;
            });
            assertThat(Counters.hits(db)).isEqualTo("1111111111");
        }
    }

    @Test
    void the_threads_of_a_host_that_steps_a_worker_are_left_alone() throws Exception { // BB-2
        BackfillDefinition<Long> slow = enteredOnceBy((batch, tx) -> deaf());
        try (BackfillHarness harness = engine(0, slow)) {
            harness.start(Counters.ID);
            Thread hosts = new Thread(() -> harness.worker("host").step(), "host");
            hosts.start();
            Eventually.until("it is inside", () -> entries.get() == 1);
            harness.expireLease(Counters.ID);
            // Another worker of the same engine takes over: only threads of its own are the engine's business.
            harness.runToCompletion(Counters.ID);
            release.countDown();
            hosts.join();
            assertThat(Counters.hits(db)).isEqualTo("1111111111");
        } finally {
            release.countDown();
        }
    }

    private static Map<String, @Nullable String> row(BackfillHarness harness) {
        return harness.row(Counters.ID);
    }
}
