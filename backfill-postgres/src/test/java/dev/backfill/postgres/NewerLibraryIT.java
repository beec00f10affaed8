package dev.backfill.postgres;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.host.StepOutcome.Committed;
import dev.backfill.host.StepOutcome.NothingToDo;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Rehearsal;
import dev.backfill.operate.ValidationReport;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Rows that this process can't safely read are left alone (ID-5). */
@PostgresTest
class NewerLibraryIT {

    private final TestDatabase db;

    NewerLibraryIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void a_table() {
        db.clear();
        Samples.items(db, 20);
    }

    @Test
    void an_audit_record_in_words_that_are_not_known_here_is_read_all_the_same() { // RM-2
        BackfillDefinition<Long> definition = Samples.doubling(10);
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            db.execute(
                    "INSERT INTO backfill_audit (actor, authority, id, request_id, action, prior_state, resulting_state,"
                            + " generation, outcome, note) VALUES ('r2', 'robot', '" + definition.id()
                            + "', 'k', 'archive', 'completed', 'archived', 3, 'archived', 'n')");
            AuditRecord record = harness.operations()
                    .audit(BackfillHarness.OPERATOR, definition.id(), 10, null)
                    .items()
                    .get(0);
            assertThat(record.authority()).isEqualTo(new Authority(Authority.Kind.OTHER, "r2"));
            assertThat(record.action()).isEqualTo("archive");
            assertThat(record.priorState()).isEqualTo(BackfillState.COMPLETED);
            assertThat(record.resultingState()).isNull();
            assertThat(record.outcome()).isEqualTo(AuditRecord.Outcome.OTHER);
            assertThat(record.note()).isEqualTo("n");
        }
    }

    @Test
    void a_row_of_an_unknown_format_is_neither_claimed_nor_steered() { // ID-5
        BackfillDefinition<Long> definition = Samples.doubling(10);
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(definition.id());
            harness.tamper(definition.id(), "contract", "3");
            Map<String, String> before = harness.row(definition.id());
            assertThat(harness.worker("a").step()).isEqualTo(new NothingToDo());
            for (BackfillAction action : BackfillAction.values()) {
                if (action != BackfillAction.VALIDATE) {
                    assertThat(harness.perform(action, definition.id()))
                            .isInstanceOfSatisfying(
                                    ActionOutcome.Conflict.class,
                                    c -> assertThat(c.code()).isEqualTo(ConflictCode.UNKNOWN_HERE));
                }
            }
            assertThat(harness.validate(definition.id())).isInstanceOf(ValidationReport.Refused.class);
            assertThat(harness.operations()
                            .rehearse(new OperatorRequest(
                                    definition.id(), BackfillHarness.newRequestId(), BackfillHarness.OPERATOR, null)))
                    .isInstanceOf(Rehearsal.Outcome.Refused.class);
            assertThat(harness.auditRecords(definition.id()))
                    .filteredOn(r -> "unknown_here".equals(r.get("outcome")))
                    .extracting(r -> r.get("action"))
                    .containsExactlyInAnyOrder("start", "pause", "resume", "retry", "validate", "rehearse");
            assertThat(harness.row(definition.id())).isEqualTo(before);
        }
    }

    @Test
    void an_answer_that_was_given_stays_the_answer_in_a_format_that_came_later() { // IK-2, IK-3
        BackfillDefinition<Long> definition = Samples.doubling(10);
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(definition.id());
            harness.runToCompletion(definition.id());
            var request = BackfillHarness.request(definition.id(), "v1");
            assertThat(harness.operations().validate(request)).isInstanceOf(ValidationReport.Success.class);
            harness.tamper(definition.id(), "contract", "3");
            assertThat(harness.operations().validate(request))
                    .isInstanceOfSatisfying(
                            ValidationReport.Success.class,
                            it -> assertThat(it.replayed()).isTrue());
            assertThat(harness.operations()
                            .rehearse(new OperatorRequest(definition.id(), "v1", BackfillHarness.OPERATOR, null)))
                    .isInstanceOfSatisfying(
                            Rehearsal.Outcome.Refused.class,
                            it -> assertThat(it.conflict().code()).isEqualTo(ConflictCode.REQUEST_ID_REUSED));
        }
    }

    @Test
    void a_row_whose_key_is_stored_as_another_type_is_not_claimed() { // ID-5, SR-4
        BackfillDefinition<Long> definition = Samples.doubling(10);
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.start(definition.id());
            harness.tamper(definition.id(), "key_codec", "v2:bigint");
            assertThat(harness.worker("a").step()).isEqualTo(new NothingToDo());
            harness.tamper(definition.id(), "key_codec", "v1:bigint");
            assertThat(harness.worker("a").step()).isInstanceOf(Committed.class);
        }
    }

    @Test
    void an_id_that_this_process_does_not_know_is_left_to_one_that_does() { // ID-5, CT 6
        BackfillDefinition<Long> definition = Samples.doubling(10);
        try (BackfillHarness knowing = BackfillHarness.on(db, definition);
                BackfillHarness other = BackfillHarness.on(db, Samples.upper(10))) {
            knowing.start(definition.id());
            assertThat(other.worker("b").step()).isEqualTo(new NothingToDo());
            assertThat(other.show(definition.id()).knownHere()).isFalse();
            assertThat(other.show(definition.id()).waiting()).isNotNull();
            assertThat(knowing.worker("a").step()).isInstanceOf(Committed.class);
            assertThat(knowing.state(definition.id())).isEqualTo(BackfillState.RUNNING);
        }
    }
}
