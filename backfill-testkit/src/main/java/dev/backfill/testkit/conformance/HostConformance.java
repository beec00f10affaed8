package dev.backfill.testkit.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillId;
import dev.backfill.testkit.Eventually;
import java.net.URI;
import java.util.List;
import java.util.Optional;
import java.util.UUID;
import org.junit.jupiter.api.Test;

/**
 * Cases 8 to 13 of the contract against a host's own HTTP boundary and readiness endpoint, as a client sees them. Inherit, start the
 * host in {@code @BeforeAll} or {@code @BeforeEach}, and say where it is. The host should be in manual mode and hold at least one
 * backfill that is pending or further on and may be started, paused and resumed; nothing of the host's data is changed besides what its
 * own backfill does.
 *
 * @since 0.1
 */
public abstract class HostConformance {

    private static final BackfillId NOWHERE = BackfillId.of("host-conformance.no-such-backfill");

    /** For subclasses. */
    protected HostConformance() {}

    /** Where the operator API is, for instance {@code http://localhost:8081/admin/backfills}. */
    protected abstract URI operatorApi();

    /** Where readiness is asked for, for instance {@code http://localhost:8080/readyz}. */
    protected abstract URI readiness();

    /** A bearer token of an operator who may see and steer. */
    protected abstract String operatorToken();

    /** A backfill that the host knows. */
    protected abstract BackfillId backfill();

    /** A backfill that is {@code blocked} or {@code failed}; default none, and case 8 is then judged by the others alone. */
    protected Optional<BackfillId> stuck() {
        return Optional.empty();
    }

    private OperatorClient operator() {
        return new OperatorClient(operatorApi(), operatorToken());
    }

    private OperatorClient stranger() {
        return new OperatorClient(operatorApi(), "no-such-token-" + UUID.randomUUID());
    }

    private String path() {
        return "/" + backfill();
    }

    /** Brings the backfill into a state from which it can be paused or validated. */
    private void started() {
        operator().control(path() + "/start", newKey());
    }

    private static String newKey() {
        return "host-conformance-" + UUID.randomUUID();
    }

    @Test
    final void a_backfill_that_stands_still_says_why_in_bounded_words() { // RB-4, AU-5, RM-1
        stuck().ifPresent(id -> {
            OperatorClient.Answer detail = operator().get("/" + id);
            assertThat(detail.field("state")).as(OperatorClient.DETAIL).isIn("blocked", "failed");
            assertThat(detail.body())
                    .as("why it stands still, as a diagnostic with a code")
                    .contains("\"diagnostic\":{");
            assertThat(detail.body().length()).as("the size of a detail").isLessThan(16_384);
        });
    }

    @Test
    final void strangers_learn_nothing_and_change_nothing() { // AU-1, AU-4
        OperatorClient.Answer known = stranger().get(path());
        OperatorClient.Answer unknown = stranger().get("/" + NOWHERE);
        assertThat(known.status())
                .as("the status for somebody without a credential")
                .isIn(401, 403);
        assertThat(unknown.status())
                .as("the status must not tell whether an ID exists")
                .isEqualTo(known.status());
        assertThat(unknown.body())
                .as("the body must not tell whether an ID exists")
                .isEqualTo(known.body());
        String before = operator().get(path()).field("generation");
        for (String action : List.of("start", "pause", "resume", "retry", "validate")) {
            assertThat(stranger().control(path() + "/" + action, newKey()).status())
                    .as(action)
                    .isIn(401, 403);
        }
        assertThat(stranger().get("/audit").status())
                .as("the audit, for a stranger")
                .isIn(401, 403);
        assertThat(operator().get(path()).field("generation"))
                .as("what strangers asked for happened")
                .isEqualTo(before);
    }

    @Test
    final void one_request_has_one_effect_and_one_answer() { // IK-2, IK-3
        started();
        String key = newKey();
        OperatorClient.Answer first = operator().control(path() + "/pause", key);
        if (first.status() == 409) {
            assertThat(first.field("code")).as("why a pause is refused").isEqualTo("illegal_transition");
        } else {
            assertThat(first.status()).as(first.body()).isEqualTo(200);
            String generation = operator().get(path()).field("generation");
            OperatorClient.Answer again = operator().control(path() + "/pause", key);
            assertThat(again.field("replayed")).as("the same request again").isEqualTo("true");
            assertThat(operator().get(path()).field("generation"))
                    .as("the generation after a repeat")
                    .isEqualTo(generation);
        }
        OperatorClient.Answer reused = operator().control(path() + "/resume", key);
        assertThat(reused.status()).as("the same key for another action").isEqualTo(409);
        assertThat(reused.field("code")).isEqualTo("request_id_reused");
        operator().control(path() + "/resume", newKey());
    }

    @Test
    final void a_control_without_a_key_is_refused() { // IK-2
        assertThat(operator().control(path() + "/pause", null).status())
                .as("a control without Idempotency-Key")
                .isEqualTo(400);
    }

    @Test
    final void a_validation_has_exactly_one_typed_outcome_and_changes_no_bound() { // EV-1, EV-2, EV-4
        started();
        String bound = operator().get(path()).part("bound");
        String key = newKey();
        OperatorClient.Answer report = operator().control(path() + "/validate", key);
        assertThat(report.status()).as(report.body()).isEqualTo(200);
        assertThat(report.field("outcome")).isIn("success", "failure", "current-state");
        if (!"current-state".equals(report.field("outcome"))) {
            assertThat(operator().control(path() + "/validate", key).field("outcome"))
                    .as("the outcome when the same request asks again")
                    .isEqualTo(report.field("outcome"));
        }
        assertThat(operator().get(path()).part("bound"))
                .as("the bound after a validation")
                .isEqualTo(bound);
    }

    @Test
    final void what_is_unknown_is_null_and_only_supported_controls_exist() { // RM-2, IK-1
        OperatorClient.Answer detail = operator().get(path());
        assertThat(detail.status()).as(detail.body()).isEqualTo(200);
        for (String field : List.of(
                "state",
                "known_here",
                "required",
                "bound",
                "checkpoint",
                "progress",
                "claim",
                "retry",
                "diagnostic",
                "validation",
                "waiting")) {
            assertThat(detail.body()).as(OperatorClient.DETAIL).contains("\"" + field + "\":");
        }
        for (String action : List.of("reset", "rewind", "delete", "complete", "release", "cancel")) {
            assertThat(operator().control(path() + "/" + action, newKey()).status())
                    .as("a control called " + action)
                    .isIn(404, 405);
        }
        assertThat(operator().get("/" + NOWHERE).status())
                .as("an unknown ID, for an operator")
                .isEqualTo(404);
    }

    @Test
    final void readiness_tells_its_inputs_and_operators_are_let_in_whatever_it_says() { // CF-3, CF-6
        Eventually.until(
                "readiness answers", () -> OperatorClient.plain(readiness()).status() > 0);
        OperatorClient.Answer ready = OperatorClient.plain(readiness());
        assertThat(ready.status()).as("the status of readiness").isIn(200, 503);
        assertThat(operator().get("/").status())
                .as("the list, while readiness says " + ready.status())
                .isEqualTo(200);
    }
}
