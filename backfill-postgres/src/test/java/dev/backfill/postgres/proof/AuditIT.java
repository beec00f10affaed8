package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.BackfillId;
import dev.backfill.BlockedException;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.AccessDeniedException;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.spi.AuditSink;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.FaultyConnections;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

/** A change and its audit record are one: if the record can't be written, the change did not happen, and the caller knows. */
@PostgresTest
class AuditIT {

    private final TestDatabase db;

    AuditIT(TestDatabase db) {
        this.db = db;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "alter table backfill_audit add constraint no_more check (false) not valid | alter table backfill_audit drop constraint no_more",
                "alter table backfill_audit rename to elsewhere | alter table elsewhere rename to backfill_audit",
            })
    void a_change_whose_record_is_refused_does_not_happen_and_may_be_repeated(String refuse, String repair) { // AU-3
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.custom(4))) {
            for (BackfillAction action :
                    List.of(BackfillAction.START, BackfillAction.PAUSE, BackfillAction.RESUME, BackfillAction.RETRY)) {
                Rows.put(db, action.appliesFrom().iterator().next());
                Map<String, String> before = harness.row(Counters.ID);
                String key = BackfillHarness.newRequestId();
                db.execute(refuse);
                assertThatThrownBy(() -> harness.perform(action, Counters.ID, key))
                        .as(action.wireName())
                        .isInstanceOfSatisfying(
                                BackfillUnavailableException.class,
                                it -> assertThat(it.reason()).isEqualTo(Reason.AUDIT_UNAVAILABLE));
                assertThat(harness.row(Counters.ID)).isEqualTo(before);
                db.execute(repair);
                assertThat(harness.perform(action, Counters.ID, key))
                        .isInstanceOfSatisfying(
                                ActionOutcome.Applied.class,
                                it -> assertThat(it.replayed()).isFalse());
            }
        }
    }

    @Test
    void an_end_whose_record_is_refused_is_not_called_handled() { // AU-3, RB-1
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.custom(4, (batch, tx) -> {
            throw new BlockedException("The index is missing.");
        }))) {
            harness.start(Counters.ID);
            db.execute("alter table backfill_audit add constraint no_more check (false) not valid");
            assertThat(harness.worker("a").step()).isInstanceOf(StepOutcome.Retrying.class);
            assertThat(harness.state(Counters.ID)).isEqualTo(BackfillState.RUNNING);
            // Said in the row at once, instead of hidden until the lease is over.
            assertThat(harness.row(Counters.ID))
                    .containsEntry("failure_code", "blocked-by-definition")
                    .containsEntry("claim_token", null)
                    .hasEntrySatisfying(
                            "failure_message",
                            message -> assertThat(message)
                                    .contains("audit record could not be written")
                                    .contains("The index is missing."));
            db.execute("alter table backfill_audit drop constraint no_more");
            harness.clearRetryDelay(Counters.ID);
            assertThat(harness.worker("b").step()).isInstanceOf(StepOutcome.Ended.class);
            assertThat(harness.auditRecords(Counters.ID))
                    .last()
                    .satisfies(entry -> assertThat(entry)
                            .containsEntry("action", "block")
                            .containsEntry("authority", "engine")
                            .containsEntry("prior_state", "running")
                            .containsEntry("resulting_state", "blocked")
                            .containsEntry(
                                    "generation", harness.row(Counters.ID).get("generation")));
        }
    }

    @Test
    void a_completion_whose_record_is_refused_does_not_happen() { // AU-3, VA-3
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.custom(4))) {
            Rows.put(db, BackfillState.VALIDATING);
            db.execute("update counters set hits = 1");
            db.execute("alter table backfill_audit add constraint no_more check (action <> 'complete') not valid");
            assertThat(harness.worker("a").step()).isInstanceOf(StepOutcome.Retrying.class); // RB-1: said in the row
            assertThat(harness.row(Counters.ID)).containsEntry("failure_code", "infrastructure");
            assertThat(harness.state(Counters.ID)).isEqualTo(BackfillState.VALIDATING);
            assertThat(harness.validate(Counters.ID))
                    .isNotInstanceOf(dev.backfill.operate.ValidationReport.Success.class);
            assertThat(harness.state(Counters.ID)).isEqualTo(BackfillState.VALIDATING);
            db.execute("alter table backfill_audit drop constraint no_more");
            harness.clearRetryDelay(Counters.ID);
            assertThat(harness.worker("b").step()).isEqualTo(new StepOutcome.Completed(Counters.ID));
        }
    }

    static Stream<Arguments> sinksThatFail() {
        return Stream.of(
                sink("throws", (tx, entry) -> {
                    throw new IllegalStateException("no");
                }),
                sink("throws SQL", (tx, entry) -> {
                    throw new SQLException("no", "42P01");
                }),
                sink("commits", (tx, entry) -> tx.commit()),
                sink("rolls back", (tx, entry) -> tx.rollback()),
                sink("closes", (tx, entry) -> tx.close()),
                sink("switches to auto-commit", (tx, entry) -> tx.setAutoCommit(true)),
                sink("commits by SQL", (tx, entry) -> {
                    try (Statement statement = tx.createStatement()) {
                        statement.execute("/* done */ COMMIT");
                    }
                }),
                sink("swallows an error", (tx, entry) -> {
                    try (Statement statement = tx.createStatement()) {
                        statement.execute("select 1/0");
                    } catch (SQLException e) {
                        return;
                    }
                }));
    }

    private static Arguments sink(String name, AuditSink sink) {
        return Arguments.of(name, sink);
    }

    @ParameterizedTest(name = "{0}")
    @MethodSource("sinksThatFail")
    void a_sink_that_fails_undoes_the_change(String name, AuditSink sink) { // AU-3
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Counters.custom(4))
                .audit(sink)
                .open()) {
            Map<String, String> before = harness.row(Counters.ID);
            assertThatThrownBy(() -> harness.start(Counters.ID))
                    .as(name)
                    .isInstanceOfSatisfying(
                            BackfillUnavailableException.class,
                            it -> assertThat(it.reason()).isEqualTo(Reason.AUDIT_UNAVAILABLE));
            assertThat(harness.row(Counters.ID)).isEqualTo(before);
            assertThat(db.queryLong("select count(*) from backfill_request")).isZero();
        }
    }

    @Test
    void what_keeps_a_second_try_from_its_answer_says_nothing_of_the_first() { // AU-3, IK-2
        Counters.fresh(db, 10);
        FaultyConnections faults = FaultyConnections.over(db);
        AtomicInteger records = new AtomicInteger();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Counters.custom(4))
                .connections(faults)
                .audit((tx, entry) -> {
                    if (records.incrementAndGet() == 2) {
                        throw new IllegalStateException("no");
                    }
                })
                .open()) {
            String key = BackfillHarness.newRequestId();
            faults.after(FaultPoint.commit(), Fault.cut());
            assertThatThrownBy(() -> harness.perform(BackfillAction.START, Counters.ID, key))
                    .isInstanceOfSatisfying(BackfillUnavailableException.class, it -> {
                        assertThat(it.reason()).isEqualTo(Reason.UNAVAILABLE);
                        assertThat(it.getMessage()).contains("Nothing is known to have changed");
                    });
            assertThat(records).hasValue(2);
            assertThat(harness.state(Counters.ID)).isEqualTo(BackfillState.RUNNING);
            assertThat(harness.perform(BackfillAction.START, Counters.ID, key))
                    .isInstanceOfSatisfying(
                            ActionOutcome.Applied.class,
                            it -> assertThat(it.replayed()).isTrue());
        }
    }

    @Test
    void a_denial_that_could_not_be_written_is_counted_and_costs_one_try() { // AU-3
        Counters.fresh(db, 10);
        AtomicBoolean broken = new AtomicBoolean(true);
        AtomicInteger tries = new AtomicInteger();
        List<String> heard = new ArrayList<>();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Counters.custom(4))
                .audit((tx, entry) -> {
                    tries.incrementAndGet();
                    if (broken.get()) {
                        throw new IllegalStateException("no");
                    }
                    heard.add(entry.outcome().wireName() + " " + entry.note());
                })
                .open()) {
            Authority stranger = Authority.operator("stranger");
            OperatorRequest start = new OperatorRequest(Counters.ID, BackfillHarness.newRequestId(), stranger, null);
            assertThatThrownBy(() -> harness.operations().start(start)).isInstanceOf(AccessDeniedException.class);
            assertThatThrownBy(() -> harness.operations().start(start)).isInstanceOf(AccessDeniedException.class);
            assertThat(tries).hasValue(2);
            broken.set(false);
            assertThatThrownBy(() -> harness.operations().start(start)).isInstanceOf(AccessDeniedException.class);
            assertThat(heard).containsExactly("denied_summary 2 further attempts were denied", "denied null");
        }
    }

    @Test
    void a_sink_of_the_hosts_writes_in_the_transaction_of_the_change_instead_of_the_librarys_table() { // AU-3
        Counters.fresh(db, 10);
        db.execute("create table if not exists host_audit (what text)");
        List<AuditRecord> heard = new ArrayList<>();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Counters.custom(4))
                .audit((tx, entry) -> {
                    heard.add(entry);
                    try (var statement = tx.prepareStatement("insert into host_audit values (?)")) {
                        statement.setString(
                                1, entry.action() + " " + entry.outcome().wireName());
                        statement.executeUpdate();
                    }
                })
                .open()) {
            harness.start(Counters.ID);
            harness.pause(Counters.ID);
            assertThat(db.queryTexts("select what from host_audit")).containsExactly("start applied", "pause applied");
            assertThat(db.queryLong("select count(*) from backfill_audit")).isZero();
            assertThat(heard)
                    .extracting(AuditRecord::resultingState)
                    .containsExactly(BackfillState.RUNNING, BackfillState.PAUSED);
        }
        db.execute("drop table host_audit");
    }

    @Test
    void a_denial_says_the_same_of_every_id_and_changes_nothing() { // AU-1, AU-4
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.custom(4))) {
            Map<String, String> before = harness.row(Counters.ID);
            BackfillId unheard = BackfillId.of("counters.unheard-of.v1");
            List<Authority> strangers =
                    List.of(Authority.operator("community-owner"), Authority.anonymous(), Authority.protectedNetwork());
            for (Authority stranger : strangers) {
                for (BackfillId id : List.of(Counters.ID, unheard)) {
                    assertThatThrownBy(() -> harness.operations()
                                    .start(new OperatorRequest(id, BackfillHarness.newRequestId(), stranger, null)))
                            .isInstanceOf(AccessDeniedException.class);
                    assertThatThrownBy(() -> harness.operations()
                                    .validate(new OperatorRequest(id, BackfillHarness.newRequestId(), stranger, null)))
                            .isInstanceOf(AccessDeniedException.class);
                    assertThat(messageOf(() -> harness.operations().show(stranger, id)))
                            .isEqualTo(messageOf(() -> harness.operations().show(stranger, unheard)))
                            .doesNotContain("counters");
                }
            }
            assertThat(harness.row(Counters.ID)).isEqualTo(before);
            assertThat(db.queryLong("select count(*) from backfill_request")).isZero();
            assertThat(db.queryLong("select count(*) from backfill_audit where outcome = 'denied'"))
                    .isPositive();
        }
    }

    private static String messageOf(Runnable read) {
        try {
            read.run();
        } catch (dev.backfill.operate.AccessDeniedException e) {
            return e.getMessage();
        }
        throw new AssertionError("It was allowed.");
    }

    @Test
    void an_authorizer_that_throws_denies() { // AU-1
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Counters.custom(4))
                .operators((authority, capability) -> {
                    throw new IllegalStateException("the directory is away");
                })
                .open()) {
            assertThatThrownBy(() -> harness.start(Counters.ID)).isInstanceOf(AccessDeniedException.class);
        }
    }

    @Test
    void nobody_is_nobody_even_if_the_authorizer_lets_everybody_in() { // AU-1
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Counters.custom(4))
                .operators((authority, capability) -> true)
                .open()) {
            assertThatThrownBy(() -> harness.operations()
                            .start(new OperatorRequest(Counters.ID, "nobody-1", Authority.anonymous(), null)))
                    .isInstanceOf(AccessDeniedException.class);
        }
    }

    @Test
    void the_capability_to_read_does_not_steer() { // AU-1
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Counters.custom(4))
                .operators((authority, capability) -> capability == dev.backfill.operate.Authority.Capability.READ)
                .open()) {
            assertThat(harness.show(Counters.ID).state()).isEqualTo(BackfillState.PENDING);
            assertThatThrownBy(() -> harness.start(Counters.ID)).isInstanceOf(AccessDeniedException.class);
            assertThat(harness.state(Counters.ID)).isEqualTo(BackfillState.PENDING);
        }
    }

    @Test
    void a_flood_of_denials_is_counted_and_not_written_row_by_row() { // AU-3
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.custom(4))) {
            for (int i = 0; i < 100; i++) {
                OperatorRequest pause =
                        new OperatorRequest(Counters.ID, BackfillHarness.newRequestId(), Authority.anonymous(), null);
                assertThatThrownBy(() -> harness.operations().pause(pause)).isInstanceOf(AccessDeniedException.class);
            }
            harness.operations().audit(BackfillHarness.OPERATOR, null, 10, null);
            long each = db.queryLong("select count(*) from backfill_audit where outcome = 'denied'");
            assertThat(each).isLessThan(50);
            assertThat(db.queryTexts("select note from backfill_audit where outcome = 'denied_summary'"))
                    .containsExactly((100 - each) + " further attempts were denied");
        }
    }

    @Test
    void sequences_that_a_logical_switchover_left_behind_are_advanced_in_the_same_request() { // AU-3, ID-2
        Counters.fresh(db, 10);
        try (BackfillHarness harness = BackfillHarness.on(db, Counters.set(3))) {
            harness.start(Counters.ID);
            harness.pause(Counters.ID);
            // Logical replication copies rows and no sequences.
            db.execute(
                    "select setval(pg_get_serial_sequence('backfill_audit', 'audit_id'), min(audit_id), false) from backfill_audit");
            assertThat(harness.resume(Counters.ID)).isInstanceOf(ActionOutcome.Applied.class);
            assertThat(harness.auditRecords(Counters.ID))
                    .extracting(entry -> entry.get("action"))
                    .containsExactly("start", "pause", "resume");
        }
        db.execute("select setval(pg_get_serial_sequence('backfill', 'no'), min(no), false) from backfill");
        try (BackfillHarness harness = BackfillHarness.on(
                db,
                Counters.set(3),
                Counters.over("counters.other.v1")
                        .repair(Repair.update().set("hits", "hits + 1").where("true"))
                        .validate(Validation.noRowMatches("false"))
                        .build())) {
            assertThat(harness.show(BackfillId.of("counters.other.v1")).knownHere())
                    .isTrue();
        }
        assertThat(db.queryLong("select count(distinct no) from backfill")).isEqualTo(2);
    }
}
