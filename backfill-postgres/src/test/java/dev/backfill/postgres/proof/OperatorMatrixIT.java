package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Every action in every state: first, repeated, and with another key. The table is the contract's, not the enum's. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class OperatorMatrixIT {

    private final TestDatabase db;
    private BackfillHarness harness;

    OperatorMatrixIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeAll
    void open() {
        Counters.fresh(db, 10);
        harness = BackfillHarness.on(db, Counters.custom(4));
    }

    @AfterAll
    void close() {
        harness.close();
    }

    // A applied, C converged, X illegal.
    @ParameterizedTest
    @CsvSource({
        "START,  pending, A, running",
        "START,  running, C, running",
        "START,  paused, X, paused",
        "START,  blocked, X, blocked",
        "START,  failed, X, failed",
        "START,  validating, C, validating",
        "START,  completed, X, completed",
        "PAUSE,  pending, X, pending",
        "PAUSE,  running, A, paused",
        "PAUSE,  paused, C, paused",
        "PAUSE,  blocked, X, blocked",
        "PAUSE,  failed, X, failed",
        "PAUSE,  validating, A, paused",
        "PAUSE,  completed, X, completed",
        "RESUME, pending, X, pending",
        "RESUME, running, C, running",
        "RESUME, paused, A, running",
        "RESUME, blocked, X, blocked",
        "RESUME, failed, X, failed",
        "RESUME, validating, C, validating",
        "RESUME, completed, X, completed",
        "RETRY,  pending, X, pending",
        "RETRY,  running, C, running",
        "RETRY,  paused, X, paused",
        "RETRY,  blocked, A, running",
        "RETRY,  failed, A, running",
        "RETRY,  validating, C, validating",
        "RETRY,  completed, X, completed",
    })
    void an_action_in_a_state(BackfillAction action, String from, char expected, String to) { // LC, IK-2, IK-4, AU-3
        Rows.put(db, BackfillState.ofWireName(from));
        if (from.equals("running") || from.equals("validating")) {
            Rows.claim(db);
        }
        Map<String, String> before = harness.row(Counters.ID);
        int audited = harness.auditRecords(Counters.ID).size();
        String key = BackfillHarness.newRequestId();

        ActionOutcome first = harness.perform(action, Counters.ID, key);

        Map<String, String> after = harness.row(Counters.ID);
        assertOutcome(first, expected, false);
        assertMoved(expected, action, before, after, to);
        List<Map<String, String>> audit = harness.auditRecords(Counters.ID);
        assertThat(audit).hasSize(audited + 1);
        assertThat(audit.get(audited))
                .containsEntry("actor", "test-operator")
                .containsEntry("action", action.wireName())
                .containsEntry("request_id", key)
                .containsEntry("prior_state", from)
                .containsEntry("resulting_state", to)
                .containsEntry("generation", after.get("generation"))
                .containsEntry(
                        "outcome", expected == 'A' ? "applied" : expected == 'C' ? "converged" : "illegal_transition");

        assertOutcome(harness.perform(action, Counters.ID, key), expected, true);
        assertThat(harness.row(Counters.ID)).isEqualTo(after);

        // The state moves on; the old request comes back late and is answered, never executed.
        BackfillState elsewhere = from.equals("paused") ? BackfillState.FAILED : BackfillState.PAUSED;
        Rows.put(db, elsewhere);
        Map<String, String> later = harness.row(Counters.ID);
        assertOutcome(harness.perform(action, Counters.ID, key), expected, true);
        assertThat(harness.row(Counters.ID)).isEqualTo(later);
    }

    private static void assertOutcome(ActionOutcome outcome, char expected, boolean replayed) {
        switch (expected) {
            case 'A' ->
                assertThat(outcome)
                        .isInstanceOfSatisfying(
                                ActionOutcome.Applied.class,
                                it -> assertThat(it.replayed()).isEqualTo(replayed));
            case 'C' ->
                assertThat(outcome)
                        .isInstanceOfSatisfying(
                                ActionOutcome.Converged.class,
                                it -> assertThat(it.replayed()).isEqualTo(replayed));
            default ->
                assertThat(outcome).isInstanceOfSatisfying(ActionOutcome.Conflict.class, it -> {
                    assertThat(it.code()).isEqualTo(ConflictCode.ILLEGAL_TRANSITION);
                    assertThat(it.replayed()).isEqualTo(replayed);
                });
        }
    }

    private static void assertMoved(
            char expected, BackfillAction action, Map<String, String> before, Map<String, String> after, String to) {
        if (expected != 'A') {
            assertThat(after).isEqualTo(before);
            return;
        }
        assertThat(after)
                .containsEntry("state", to)
                .containsEntry("generation", "8")
                .containsEntry("claim_token", null)
                .containsEntry("claim_expires_at", null)
                .containsEntry("checkpoint", before.get("checkpoint"));
        if (action == BackfillAction.START) {
            assertThat(after).containsEntry("bound", "{10}").containsEntry("bound_empty", "f");
        } else {
            for (String column : List.of("bound", "bound_captured_at", "started_at", "rows_scanned", "batches")) {
                assertThat(after).containsEntry(column, before.get(column));
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"RESUME, paused", "RETRY, blocked", "RETRY, failed"})
    void work_that_is_done_goes_on_to_its_validation_and_never_past_it(BackfillAction action, String from) { // LC, VA-1
        Rows.put(db, BackfillState.ofWireName(from), "'{10}'");
        assertThat(harness.perform(action, Counters.ID)).isInstanceOf(ActionOutcome.Applied.class);
        assertThat(harness.row(Counters.ID))
                .containsEntry("state", "validating")
                .containsEntry("generation", "8")
                .containsEntry("completed_at", null);
    }

    @Test
    void a_retry_clears_attempts_and_the_old_diagnostic_and_a_pause_gives_a_charged_attempt_back() { // LC, RB-5
        Rows.put(db, BackfillState.FAILED);
        db.execute(
                "update backfill set attempts = 10, contended = 3, failure_code = 'data-error', failure_message = 'x',"
                        + " failure_at = now()");
        harness.retry(Counters.ID);
        assertThat(harness.row(Counters.ID))
                .containsEntry("attempts", "0")
                .containsEntry("contended", "0")
                .containsEntry("failure_code", null);
        Rows.claim(db);
        harness.pause(Counters.ID);
        assertThat(harness.row(Counters.ID)).containsEntry("attempts", "0");
    }

    @Test
    void a_request_id_belongs_to_one_action_one_backfill_and_one_actor() { // IK-3, IK-4
        Rows.put(db, BackfillState.RUNNING);
        String key = BackfillHarness.newRequestId();
        assertThat(harness.perform(BackfillAction.PAUSE, Counters.ID, key)).isInstanceOf(ActionOutcome.Applied.class);
        Map<String, String> row = harness.row(Counters.ID);
        Map<String, ActionOutcome> reused = new LinkedHashMap<>();
        reused.put("action", harness.perform(BackfillAction.RESUME, Counters.ID, key));
        db.execute("insert into backfill (id) values ('counters.second.v1') on conflict do nothing");
        reused.put(
                "backfill",
                harness.perform(BackfillAction.PAUSE, dev.backfill.BackfillId.of("counters.second.v1"), key));
        try (BackfillHarness anyone = BackfillHarness.over(db)
                .definitions(Counters.custom(4))
                .operators((authority, capability) -> true)
                .open()) {
            reused.put("actor", pauseAs(anyone, Authority.operator("somebody-else"), key));
            reused.put("authority", pauseAs(anyone, Authority.host("test-operator"), key));
        }
        reused.forEach((what, outcome) -> assertThat(outcome)
                .as(what)
                .isInstanceOfSatisfying(
                        ActionOutcome.Conflict.class,
                        it -> assertThat(it.code()).isEqualTo(ConflictCode.REQUEST_ID_REUSED)));
        assertThat(harness.row(Counters.ID)).isEqualTo(row);
        db.execute("delete from backfill where id = 'counters.second.v1'");
    }

    private static ActionOutcome pauseAs(BackfillHarness harness, Authority authority, String key) {
        return harness.operations().pause(new OperatorRequest(Counters.ID, key, authority, null));
    }
}
