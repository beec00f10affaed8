package dev.backfill.postgres.conformance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowableOfType;

import dev.backfill.BackfillId;
import dev.backfill.operate.AccessDeniedException;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.Authority.Capability;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.UnknownBackfillException;
import dev.backfill.spi.BackfillEvent;
import dev.backfill.spi.OperatorAuthorizer;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.TestDatabase;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Case 9, in the engine: nobody sees or steers anything without the capability, and whoever tries is on record. */
class OperatorAuthorizationIT extends Case {

    private static final Authority STRANGER = Authority.operator("stranger");
    private static final Authority READER = Authority.operator("reader");

    OperatorAuthorizationIT(TestDatabase db) {
        super(db);
    }

    private BackfillHarness guarded() {
        BackfillHarness harness = kept(BackfillHarness.over(db)
                .definitions(counted())
                .operators((authority, capability) -> authority.equals(BackfillHarness.OPERATOR)
                        || (authority.equals(READER) && capability == Capability.READ))
                .open());
        return harness;
    }

    private static OperatorRequest by(Authority authority, BackfillId id) {
        return new OperatorRequest(id, BackfillHarness.newRequestId(), authority, null);
    }

    @ParameterizedTest
    @EnumSource(value = BackfillAction.class, names = "VALIDATE", mode = EnumSource.Mode.EXCLUDE)
    void a_control_without_the_capability_is_denied_and_changes_nothing(BackfillAction action) { // AU-1, AU-4
        BackfillHarness harness = guarded();
        var before = harness.row(ID);
        for (Authority authority : new Authority[] {STRANGER, READER, Authority.anonymous()}) {
            assertThatThrownBy(() -> BackfillHarness.perform(harness.operations(), action, by(authority, ID)))
                    .isInstanceOf(AccessDeniedException.class);
        }
        assertThat(harness.row(ID)).isEqualTo(before);
    }

    @Test
    void an_explicit_validation_needs_the_capability_to_control() { // AU-1
        BackfillHarness harness = guarded();
        assertThatThrownBy(() -> harness.operations().validate(by(READER, ID)))
                .isInstanceOf(AccessDeniedException.class);
    }

    @Test
    void a_reader_reads_and_a_stranger_does_not() { // AU-1
        BackfillHarness harness = guarded();
        assertThat(harness.operations().show(READER, ID).state()).isEqualTo(BackfillState.PENDING);
        assertThatThrownBy(() -> harness.operations().show(STRANGER, ID)).isInstanceOf(AccessDeniedException.class);
        assertThatThrownBy(() -> harness.operations().list(STRANGER)).isInstanceOf(AccessDeniedException.class);
        assertThatThrownBy(() -> harness.operations().audit(STRANGER, ID, 10, null))
                .isInstanceOf(AccessDeniedException.class);
        assertThatThrownBy(() -> harness.operations().preflight(STRANGER, ID))
                .isInstanceOf(AccessDeniedException.class);
    }

    @Test
    void a_denial_does_not_say_whether_the_id_exists() { // AU-4
        BackfillHarness harness = guarded();
        BackfillId nowhere = BackfillId.of("no.such.backfill");
        BackfillOperations operations = harness.operations();
        assertThat(denied(() -> operations.show(STRANGER, nowhere)))
                .isEqualTo(denied(() -> operations.show(STRANGER, ID)));
        assertThat(denied(() -> operations.start(by(STRANGER, nowhere))))
                .isEqualTo(denied(() -> operations.start(by(STRANGER, ID))));
        assertThatThrownBy(() -> harness.operations().start(by(BackfillHarness.OPERATOR, nowhere)))
                .isInstanceOf(UnknownBackfillException.class);
    }

    private static String denied(ThrowingCallable asked) {
        AccessDeniedException denied = catchThrowableOfType(AccessDeniedException.class, asked);
        assertThat(denied).isNotNull();
        return denied.getMessage();
    }

    @Test
    void nobody_is_an_operator_unless_the_host_says_so() { // AU-1
        BackfillHarness harness = kept(BackfillHarness.over(db)
                .definitions(counted())
                .operators(OperatorAuthorizer.denyAll())
                .open());
        assertThatThrownBy(() -> harness.start(ID)).isInstanceOf(AccessDeniedException.class);
    }

    @Test
    void nobody_without_a_credential_is_let_in_even_by_an_authorizer_that_lets_everybody_in() { // AU-1
        BackfillHarness harness = kept(BackfillHarness.over(db)
                .definitions(counted())
                .operators((authority, capability) -> true)
                .open());
        assertThatThrownBy(() -> harness.operations().start(by(Authority.anonymous(), ID)))
                .isInstanceOf(AccessDeniedException.class);
    }

    @Test
    void an_authorizer_that_fails_lets_nobody_in() { // AU-1
        BackfillHarness harness = kept(BackfillHarness.over(db)
                .definitions(counted())
                .operators((authority, capability) -> {
                    throw new IllegalStateException("directory is down");
                })
                .open());
        assertThatThrownBy(() -> harness.start(ID)).isInstanceOf(AccessDeniedException.class);
        assertThat(state()).isEqualTo(BackfillState.PENDING);
    }

    @Test
    void a_denied_attempt_is_on_record() { // AU-3
        BackfillHarness harness = guarded();
        denied(() -> harness.operations().pause(by(STRANGER, ID)));
        assertThat(harness.auditRecords(ID))
                .singleElement()
                .satisfies(entry -> assertThat(entry)
                        .containsEntry("outcome", "denied")
                        .containsEntry("actor", "stranger")
                        .containsEntry("action", "pause"));
    }

    @Test
    void a_flood_of_denied_attempts_does_not_flood_the_audit() { // AU-3
        BackfillHarness harness = guarded();
        for (int i = 0; i < 300; i++) {
            denied(() -> harness.operations().start(by(Authority.anonymous(), ID)));
        }
        harness.operations().audit(BackfillHarness.OPERATOR, null, 10, null);
        assertThat(db.queryLong("SELECT count(*) FROM backfill_audit")).isLessThan(40);
        assertThat(db.queryText("SELECT note FROM backfill_audit WHERE outcome = 'denied_summary'"))
                .startsWith("280 ");
    }

    @Test
    void a_flood_of_one_name_hides_no_attempt_of_another_and_is_summarized_under_its_own() { // AU-3
        BackfillHarness harness = guarded();
        for (int i = 0; i < 50; i++) {
            denied(() -> harness.operations().start(by(STRANGER, ID)));
        }
        denied(() -> harness.operations().pause(by(Authority.operator("another stranger"), ID)));
        harness.operations().audit(BackfillHarness.OPERATOR, null, 10, null);
        assertThat(db.queryText("SELECT actor || ': ' || note FROM backfill_audit WHERE outcome = 'denied_summary'"))
                .isEqualTo("stranger: 30 further attempts were denied");
        assertThat(db.queryLong(
                        "SELECT count(*) FROM backfill_audit WHERE actor = 'another stranger' AND outcome = 'denied'"))
                .isEqualTo(1);
    }

    @Test
    void a_request_that_was_malformed_is_on_record_under_its_name() { // AU-3
        BackfillHarness harness = guarded();
        harness.operations().rejected(STRANGER, "pause", ID.value(), "r-1", AuditRecord.Outcome.MALFORMED);
        assertThat(harness.auditRecords(ID))
                .singleElement()
                .satisfies(entry -> assertThat(entry)
                        .containsEntry("outcome", "malformed")
                        .containsEntry("actor", "stranger")
                        .containsEntry("request_id", "r-1")
                        .containsEntry("action", "pause"));
    }

    @Test
    void a_protected_network_may_vouch_and_then_nobody_is_named() { // AU-2
        BackfillHarness harness = kept(BackfillHarness.over(db)
                .definitions(counted())
                .operators((authority, capability) -> authority.kind() == Authority.Kind.PROTECTED_NETWORK)
                .open());
        assertThat(harness.operations().start(by(Authority.protectedNetwork(), ID)))
                .isInstanceOf(ActionOutcome.Applied.class);
        assertThat(harness.auditRecords(ID))
                .singleElement()
                .satisfies(entry -> assertThat(entry)
                        .containsEntry("authority", "protected_network")
                        .containsEntry("actor", null));
    }

    @Test
    void a_read_of_details_leaves_an_event_without_what_was_read() { // AU-6, OB-2
        List<BackfillEvent> events = new CopyOnWriteArrayList<>();
        BackfillHarness harness = kept(BackfillHarness.over(db)
                .definitions(counted())
                .listener(events::add)
                .open());
        harness.show(ID);
        Eventually.until(
                "the event arrives",
                () -> events.stream().anyMatch(event -> event.kind() == BackfillEvent.Kind.DIAGNOSTICS_READ));
        assertThat(events)
                .filteredOn(event -> event.kind() == BackfillEvent.Kind.DIAGNOSTICS_READ)
                .allSatisfy(event ->
                        assertThat(event.rowsScanned() + event.rowsChanged()).isZero());
    }
}
