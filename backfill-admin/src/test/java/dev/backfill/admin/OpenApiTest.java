package dev.backfill.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillSnapshot.ValidationDisposition;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.Preflight;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.operate.ValidationReport;
import dev.backfill.operate.Waiting;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The description of the API against what the API does. */
class OpenApiTest {

    private final OpenApi openApi = new OpenApi();
    private TestHost host;
    private Client ana;

    @BeforeEach
    void start() throws Exception {
        host = new TestHost();
        ana = new Client(host.api(), TestHost.ANA);
        host.operations.put(Rows.pending("b"));
    }

    @AfterEach
    void stop() {
        host.close();
    }

    @Test
    void it_is_served_as_it_stands() {
        assertThat(new Client(host.api(), null).get("/openapi.json").json()).isEqualTo(openApi.document());
    }

    @Test
    void its_vocabularies_are_those_of_the_code() {
        JsonNode schemas = openApi.document().at("/components/schemas");
        assertThat(enumOf(schemas.at("/State"))).isEqualTo(names(BackfillState.values()));
        assertThat(enumOf(schemas.at("/Action"))).isEqualTo(names(BackfillAction.values()));
        assertThat(enumOf(schemas.at("/Waiting/properties/reason"))).isEqualTo(names(Waiting.Reason.values()));
        assertThat(enumOf(schemas.at("/ValidationResult/properties/reason/anyOf/0")))
                .isEqualTo(names(ValidationReport.Reason.values()));
        assertThat(enumOf(schemas.at("/Backfill/properties/claim/properties/status")))
                .isEqualTo(names(BackfillSnapshot.ClaimStatus.values()));
        assertThat(enumOf(schemas.at("/Backfill/properties/bound/properties/kind")))
                .isEqualTo(names(BackfillSnapshot.BoundKind.values()));
        assertThat(enumOf(schemas.at("/Backfill/properties/validation/properties/disposition")))
                .isEqualTo(names(ValidationDisposition.values()));
        for (BackfillUnavailableException.Reason reason : BackfillUnavailableException.Reason.values()) {
            assertThat(openApi.document()
                            .at("/components/responses/Unavailable/description")
                            .asText())
                    .contains("`" + reason.wireName() + "`");
        }
        for (ConflictCode code : ConflictCode.values()) {
            assertThat(openApi.document()
                            .at("/components/responses/Conflict/description")
                            .asText())
                    .contains("`" + code.wireName() + "`");
        }
    }

    @Test
    void every_state_reads_as_it_says() {
        for (BackfillState state : BackfillState.values()) {
            host.operations.put(Rows.running("r").state(state));
            openApi.judge("/{id}", "get", ana.get("/r"));
            openApi.judge("/", "get", ana.get("/"));
        }
        Diagnostic rejected = new Diagnostic("validation-rejected", "3 rows", "22003", Rows.T0);
        host.operations.put(Rows.running("r")
                .required()
                .diagnostic(BackfillState.BLOCKED, "data-error", "range", "23505")
                .validation(ValidationDisposition.FAILURE, "k", rejected));
        openApi.judge("/{id}", "get", ana.get("/r"));
        openApi.judge("/", "get", ana.get("/"));
        host.operations.put(Rows.running("r").retryAt(Rows.T0, "contention", "deadlock"));
        openApi.judge("/{id}", "get", ana.get("/r"));
    }

    @Test
    void the_other_reads_answer_as_it_says() {
        host.operations.record(new AuditLine(
                7, Rows.T0, "ana", "operator", "b", "k", "start", "pending", "running", 1L, "applied", "n"));
        host.operations.record(
                new AuditLine(8, Rows.T0, null, "anonymous", null, null, "read", null, null, null, "denied", null));
        openApi.judge("/audit", "get", ana.get("/audit?limit=1"));
        openApi.judge("/{id}/audit", "get", ana.get("/b/audit"));
        openApi.judge("/{id}/audit", "get", ana.get("/b/audit?limit=x"));
        openApi.judge("/{id}/audit", "get", ana.get("/nobody/audit"));
        openApi.judge("/{id}/preflight", "get", ana.get("/b/preflight"));
        host.operations.preflightIs(new Preflight(
                List.of(new Finding(Finding.Code.TRIGGER_FIRES, "b", "c")),
                List.of(new Finding(Finding.Code.TRIGGER_FIRES, "b", "c")),
                new Preflight.Estimates(1L, "planner", 2L, "sample")));
        openApi.judge("/{id}/preflight", "get", ana.get("/b/preflight"));
    }

    @Test
    void controls_answer_as_it_says() {
        openApi.judge("/{id}/start", "post", ana.post("/b/start", "k1", "{\"note\":\"x\"}"));
        openApi.judge("/{id}/start", "post", ana.post("/b/start", "k1"));
        openApi.judge("/{id}/resume", "post", ana.post("/b/resume", "k2"));
        openApi.judge("/{id}/retry", "post", ana.post("/b/retry", "k1"));
        openApi.judge("/{id}/pause", "post", ana.post("/b/pause", ""));
        openApi.judge("/{id}/pause", "post", ana.post("/nobody/pause", "k"));
        openApi.judge("/{id}/pause", "post", ana.post("/b/pause", "k", "x".repeat(17_000)));
        openApi.judge("/{id}/pause", "post", ana.send("POST", "/b/pause", "x"));
        openApi.judge("/{id}/pause", "post", ana.send("DELETE", "/b/pause", null));
        openApi.judge("/{id}/pause", "post", new Client(host.api(), null).post("/b/pause", "k"));
        openApi.judge("/{id}/pause", "post", new Client(host.api(), TestHost.READER).post("/b/pause", "k"));
        for (BackfillUnavailableException.Reason reason : BackfillUnavailableException.Reason.values()) {
            host.operations.answerNext(r -> {
                throw new BackfillUnavailableException(reason, "Try again.", null);
            });
            openApi.judge("/{id}/start", "post", ana.post("/b/start", "k9"));
        }
    }

    @Test
    void validation_answers_as_it_says() {
        BackfillSnapshot row = Rows.running("b").row();
        openApi.judge("/{id}/validate", "post", ana.post("/b/validate", "k1"));
        for (ValidationReport.Reason reason : ValidationReport.Reason.values()) {
            host.operations.reportNext(r -> new ValidationReport.CurrentState(reason, row));
            openApi.judge("/{id}/validate", "post", ana.post("/b/validate", "k2"));
        }
        host.operations.reportNext(r ->
                new ValidationReport.Failure(new Diagnostic("validation-rejected", "3 rows", null, null), row, true));
        openApi.judge("/{id}/validate", "post", ana.post("/b/validate", "k3"));
        host.operations.reportNext(r -> new ValidationReport.Success(row, true));
        openApi.judge("/{id}/validate", "post", ana.post("/b/validate", "k4"));
    }

    private static List<String> enumOf(JsonNode schema) {
        List<String> values = new ArrayList<>();
        schema.path("enum").forEach(value -> values.add(value.asText()));
        return values;
    }

    private static List<String> names(Enum<?>[] values) {
        return Arrays.stream(values).map(v -> v.name().toLowerCase(Locale.ROOT)).toList();
    }
}
