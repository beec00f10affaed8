package dev.backfill.postgres.kind;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import dev.backfill.BackfillDefinition;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.host.StepOutcome.NothingToDo;
import dev.backfill.operate.AccessDeniedException;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Rehearsal;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rehearsals: real batches, and nothing of them stays. */
@PostgresTest
class RehearsalIT {

    private final TestDatabase db;
    private final AtomicInteger entries = new AtomicInteger();
    private final CountDownLatch inside = new CountDownLatch(1);
    private final CountDownLatch release = new CountDownLatch(1);

    RehearsalIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void rows() {
        Notes.fill(db, 1_000);
    }

    @AfterEach
    void nothing_is_left() {
        db.clear();
    }

    private static Rehearsal.Outcome rehearse(BackfillHarness harness, String requestId) {
        return harness.operations().rehearse(new OperatorRequest(Notes.ID, requestId, BackfillHarness.OPERATOR, null));
    }

    private static Rehearsal report(BackfillHarness harness) {
        return ((Rehearsal.Outcome.Rehearsed) rehearse(harness, BackfillHarness.newRequestId())).report();
    }

    private String contents() {
        return db.queryText("select md5(string_agg(t::text || t.xmin, ',' order by id)) from notes t");
    }

    @Test
    void three_windows_are_repaired_measured_and_rolled_back() {
        db.execute("update notes set seen = 1 where id > 900; analyze notes");
        BackfillDefinition<Long> definition = Notes.seeing(50).build();
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            String before = contents();
            Map<String, @Nullable String> row = harness.row(Notes.ID);
            Rehearsal report = report(harness);
            assertThat(report.samples())
                    .extracting(s -> s.position() + " " + s.scanned() + " " + s.wouldChange())
                    .containsExactly("first 50 50", "middle 50 50", "last 50 0");
            assertThat(report.samples().get(0).walBytes()).isPositive();
            assertThat(report.samples().get(0).locks()).contains("RowExclusiveLock on notes");
            assertThat(report.samples()).allSatisfy(s -> assertThat(s.took()).isPositive());
            assertThat(report.plan()).anySatisfy(line -> assertThat(line).contains("on notes"));
            Rehearsal.Projection whole = Objects.requireNonNull(report.projection());
            assertThat(whole.rows()).isEqualTo(1_000);
            assertThat(whole.changedLow()).isZero();
            assertThat(whole.changedHigh()).isEqualTo(1_000);
            assertThat(whole.walHigh()).isGreaterThan(whole.walLow());
            assertThat(contents()).isEqualTo(before);
            assertThat(harness.row(Notes.ID)).isEqualTo(row);
        }
    }

    @Test
    void a_rehearsal_under_a_running_worker_moves_neither_claim_nor_checkpoint() { // LC-3, CL-1
        BackfillDefinition<Long> definition = Notes.seeing(50).build();
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(Notes.ID);
            var worker = harness.worker("a");
            assertThat(worker.step()).isInstanceOf(Committed.class);
            Map<String, @Nullable String> row = harness.row(Notes.ID);
            assertThat(report(harness).samples().get(0).wouldChange()).isZero();
            assertThat(harness.row(Notes.ID)).isEqualTo(row);
            assertThat(worker.step()).isEqualTo(new Committed(Notes.ID, 50, 50, false));
        }
    }

    @Test
    void a_repair_that_fails_says_so_without_any_row_value() { // AU-5
        db.execute("alter table notes add constraint small check (seen < 1) not valid");
        try (BackfillHarness harness = BackfillHarness.on(db, Notes.seeing(50).build())) {
            Rehearsal report = report(harness);
            assertThat(report.samples()).hasSize(3).allSatisfy(s -> {
                assertThat(s.failure()).isNotNull();
                assertThat(s.failure().code()).isEqualTo("data-error");
                assertThat(s.failure().sqlState()).isEqualTo("23514");
            });
            assertThat(report.projection()).isNull();
        }
    }

    @Test
    void a_definition_can_not_commit_its_rehearsal() { // AT-2
        BackfillDefinition<Long> definition = Notes.custom(10, (batch, tx) -> {
            try (var statement = tx.connection().createStatement()) {
                statement.execute("update notes set seen = 7");
                tx.connection().commit();
            }
            return 1;
        });
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            assertThat(report(harness).samples())
                    .allSatisfy(
                            s -> assertThat(Objects.requireNonNull(s.failure()).code())
                                    .isEqualTo("transaction-control-refused"));
            assertThat(db.queryLong("select count(*) from notes where seen = 7"))
                    .isZero();
        }
    }

    @Test
    void a_rehearsal_is_audited_and_bound_to_its_request() { // AU-3, IK-3
        try (BackfillHarness harness = BackfillHarness.on(db, Notes.seeing(50).build())) {
            rehearse(harness, "r1");
            assertThat(rehearse(harness, "r1")).isInstanceOf(Rehearsal.Outcome.Rehearsed.class);
            OperatorRequest stranger = new OperatorRequest(Notes.ID, "r2", Authority.operator("stranger"), null);
            assertThatThrownBy(() -> harness.operations().rehearse(stranger)).isInstanceOf(AccessDeniedException.class);
            harness.perform(dev.backfill.operate.BackfillAction.START, Notes.ID, "r3");
            Rehearsal.Outcome reused = rehearse(harness, "r3");
            assertThat(((Rehearsal.Outcome.Refused) reused).conflict().code())
                    .isEqualTo(ConflictCode.REQUEST_ID_REUSED);
            assertThat(harness.auditRecords(Notes.ID))
                    .extracting(r -> r.get("action") + " " + r.get("outcome"))
                    .contains("rehearse applied", "rehearse replayed", "rehearse denied", "rehearse request_id_reused");
        }
    }

    @Test
    void an_empty_source_has_nothing_to_rehearse() { // LC-5
        db.execute("delete from notes");
        try (BackfillHarness harness = BackfillHarness.on(db, Notes.seeing(50).build())) {
            Rehearsal report = report(harness);
            assertThat(report.samples()).isEmpty();
            assertThat(report.projection()).isNull();
        }
    }

    @Test
    void a_rehearsal_that_never_came_to_the_code_is_not_caught_in_it() throws Exception { // BB-2, CF-5
        Duration second = Duration.ofSeconds(1);
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Notes.seeing(10).build())
                .connections(() -> {
                    if (Thread.currentThread().getName().startsWith("backfill-beside-")) {
                        awaitDeaf();
                    }
                    return db.get();
                })
                .options(o -> o.statementTimeout(second).transactionTimeout(second))
                .open()) {
            assertUnavailable(
                    () -> rehearseAside(harness), BackfillUnavailableException.Reason.UNAVAILABLE, "could not be used");
            harness.start(Notes.ID);
            assertThat(harness.worker("a").step()).isInstanceOf(Committed.class);
        } finally {
            release.countDown();
        }
    }

    // As a network that swallows packets: not even an interrupt reaches it.
    private void awaitDeaf() {
        while (true) {
            try {
                release.await();
                return;
            } catch (InterruptedException e) {
                // deaf
            }
        }
    }

    @Test
    void one_code_is_rehearsed_once_at_a_time() throws Exception { // BB-2
        BackfillDefinition<Long> held = Notes.custom(10, (batch, tx) -> {
            entries.incrementAndGet();
            inside.countDown();
            release.await();
            return 0;
        });
        try (BackfillHarness harness = BackfillHarness.on(db, held)) {
            CompletableFuture<Rehearsal.Outcome> first =
                    CompletableFuture.supplyAsync(() -> rehearse(harness, BackfillHarness.newRequestId()));
            assertThat(inside.await(30, TimeUnit.SECONDS)).isTrue();
            assertUnavailable(
                    () -> rehearseAside(harness), BackfillUnavailableException.Reason.BUSY, "already rehearses");
            assertThat(entries).hasValue(1);
            release.countDown();
            assertThat(first.get(30, TimeUnit.SECONDS)).isInstanceOf(Rehearsal.Outcome.Rehearsed.class);
        } finally {
            release.countDown();
        }
    }

    private BackfillHarness quick(BackfillDefinition<Long> definition) {
        Duration second = Duration.ofSeconds(1);
        return BackfillHarness.over(db)
                .definitions(definition)
                .options(o -> o.statementTimeout(second).transactionTimeout(second))
                .open();
    }

    /** Code that comes back once it is released, whatever is done to its thread. */
    private BackfillDefinition<Long> endless() {
        return Notes.custom(10, (batch, tx) -> {
            entries.incrementAndGet();
            inside.countDown();
            while (release.getCount() > 0) {
                Thread.onSpinWait();
            }
            return 0;
        });
    }

    /** Beside the test's own thread, which must not be the one that is caught. */
    private static Rehearsal.Outcome rehearseAside(BackfillHarness harness) throws Exception {
        return CompletableFuture.supplyAsync(() -> rehearse(harness, BackfillHarness.newRequestId()))
                .get(30, TimeUnit.SECONDS);
    }

    private static void assertUnavailable(
            ThrowingCallable rehearsal, BackfillUnavailableException.Reason reason, String words) {
        assertThat(catchThrowable(rehearsal))
                .extracting(failure -> failure instanceof ExecutionException wrapped ? wrapped.getCause() : failure)
                .isInstanceOfSatisfying(BackfillUnavailableException.class, why -> {
                    assertThat(why.reason()).isEqualTo(reason);
                    assertThat(why.getMessage()).contains(words);
                });
    }

    private static void assertOverdue(Rehearsal.Outcome outcome) {
        assertThat(outcome)
                .isInstanceOfSatisfying(
                        Rehearsal.Outcome.Rehearsed.class,
                        it -> assertThat(it.report().samples())
                                .extracting(s -> s.position() + " "
                                        + Objects.requireNonNull(s.failure()).code())
                                .containsExactly("first deadline-passed"));
    }

    @Test
    void code_that_never_ends_is_answered_for_and_takes_one_thread_only() throws Exception { // BB-2, AU-3
        try (BackfillHarness harness = quick(endless())) {
            Map<String, @Nullable String> row = harness.row(Notes.ID);
            assertOverdue(rehearseAside(harness));
            assertUnavailable(() -> rehearseAside(harness), BackfillUnavailableException.Reason.BUSY, "stuck");
            assertThat(entries).hasValue(1);
            assertThat(harness.row(Notes.ID)).isEqualTo(row);
            assertThat(harness.auditRecords(Notes.ID))
                    .extracting(r -> r.get("action") + " " + r.get("outcome"))
                    .containsExactly("rehearse applied", "rehearse busy");
            release.countDown();
            Eventually.until(
                    "once it has come back it is rehearsed again",
                    () -> rehearse(harness, BackfillHarness.newRequestId())
                                    instanceof Rehearsal.Outcome.Rehearsed rehearsed
                            && rehearsed.report().samples().size() == 3);
        } finally {
            release.countDown();
        }
    }

    @Test
    void an_interrupted_caller_is_told_so_and_what_it_left_behind_is_not_forgotten() throws Exception { // BB-2
        try (BackfillHarness harness = quick(endless())) {
            CompletableFuture<Rehearsal.Outcome> outcome = new CompletableFuture<>();
            CompletableFuture<Boolean> flag = new CompletableFuture<>();
            Thread caller = new Thread(
                    () -> {
                        try {
                            outcome.complete(rehearse(harness, BackfillHarness.newRequestId()));
                        } catch (BackfillUnavailableException e) {
                            outcome.completeExceptionally(e);
                        }
                        flag.complete(Thread.currentThread().isInterrupted());
                    },
                    "interrupted caller");
            caller.start();
            assertThat(inside.await(30, TimeUnit.SECONDS)).isTrue();
            caller.interrupt();
            assertUnavailable(
                    () -> outcome.get(30, TimeUnit.SECONDS),
                    BackfillUnavailableException.Reason.UNAVAILABLE,
                    "interrupted");
            assertThat(flag.get(30, TimeUnit.SECONDS)).isTrue();
            harness.start(Notes.ID);
            assertThat(harness.worker("a").step()).isInstanceOf(NothingToDo.class);
            assertUnavailable(() -> rehearseAside(harness), BackfillUnavailableException.Reason.BUSY, "stuck");
            assertThat(entries).hasValue(1);
            release.countDown();
            Eventually.until(
                    "once it has come back it is worked on",
                    () -> harness.worker("a").step() instanceof Committed);
        } finally {
            release.countDown();
        }
    }

    @Test
    void code_that_waits_too_long_is_interrupted_and_gives_its_thread_back() throws Exception { // BB-2, BB-3
        CountDownLatch never = new CountDownLatch(1);
        BackfillDefinition<Long> waiting = Notes.custom(10, (batch, tx) -> {
            never.await();
            return 0;
        });
        try (BackfillHarness harness = quick(waiting)) {
            assertOverdue(rehearseAside(harness));
            assertOverdue(rehearseAside(harness));
        } finally {
            never.countDown();
        }
    }
}
