package dev.backfill.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.Preflight;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.operate.ValidationReport;
import dev.backfill.operate.Waiting;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class BackfillServletTest {

    private TestHost host;
    private Client ana;

    @BeforeEach
    void start() throws Exception {
        host = new TestHost();
        host.operations.put(Rows.running("events.thread-root.v1").required());
        host.operations.put(Rows.pending("b"));
        ana = new Client(host.api(), TestHost.ANA);
    }

    @AfterEach
    void stop() {
        host.close();
    }

    @Test
    void the_list_says_when_the_gate_and_every_backfill() { // RM-1
        JsonNode list = ana.get("/").json();
        assertThat(list.path("as_of").asText()).isEqualTo("2026-11-29T02:10:00.123456Z");
        assertThat(list.path("gate").toString())
                .isEqualTo(
                        "{\"mode\":\"automatic\",\"state\":\"closed\",\"required\":[\"events.thread-root.v1\"],"
                                + "\"reasons\":[{\"id\":\"events.thread-root.v1\",\"state\":\"running\",\"code\":\"running\"}]}");
        assertThat(list.path("backfills")).hasSize(2);
        assertThat(ana.get("").json()).isEqualTo(list);
    }

    @Test
    void a_control_may_say_on_which_generation_it_was_decided() { // CL-3
        long now = host.operations.row("b").claim().generation();
        Client.Answer refused = ana.send("POST", "/b/start", null, "Idempotency-Key", "k1", "If-Match", "\"99\"");
        assertThat(refused.status()).isEqualTo(409);
        assertThat(refused.code()).isEqualTo("generation_conflict");
        assertThat(host.operations.row("b").state()).isEqualTo(BackfillState.PENDING);
        for (String malformed : List.of("99", "\"x\"", "W/\"1\"", "\"1\", \"2\"", "\"-1\"")) {
            assertThat(ana.send("POST", "/b/start", null, "Idempotency-Key", "k1", "If-Match", malformed)
                            .code())
                    .as(malformed)
                    .isEqualTo("malformed_if_match");
        }
        assertThat(ana.send("POST", "/b/start", null, "Idempotency-Key", "k1", "If-Match", "\"" + now + "\"")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void wide_numbers_are_strings_and_the_unknown_is_null_and_present() { // RM-2, SR-4
        JsonNode running = ana.get("/events.thread-root.v1").json();
        assertThat(running.at("/progress/rows_scanned").isTextual()).isTrue();
        assertThat(running.at("/claim/generation").isTextual()).isTrue();
        assertThat(running.at("/retry/attempt").isInt()).isTrue();
        assertThat(running.at("/progress/fraction").isNumber()).isTrue();
        assertThat(running.at("/progress/eta").asText()).isEqualTo("PT1M22S");
        assertThat(running.at("/actions").toString()).isEqualTo("[\"pause\",\"validate\"]");
        JsonNode pending = ana.get("/b").json();
        for (String unknown : List.of(
                "/checkpoint",
                "/family",
                "/bound/key",
                "/bound/after",
                "/progress/fraction",
                "/progress/rows_total",
                "/progress/rows_per_second",
                "/progress/eta",
                "/claim/owner",
                "/claim/expires_at",
                "/retry/next_at",
                "/retry/last_error",
                "/diagnostic",
                "/validation/at",
                "/validation/request_id",
                "/validation/diagnostic",
                "/waiting",
                "/started_at",
                "/last_progress_at",
                "/validating_at",
                "/completed_at",
                "/completed_lsn")) {
            assertThat(pending.at(unknown).isNull()).as(unknown).isTrue();
        }
        assertThat(pending.at("/bound/kind").asText()).isEqualTo("none");
    }

    @Test
    void controls_answer_with_the_request_the_result_and_the_row() { // IK-2
        Client.Answer first = ana.post("/events.thread-root.v1/pause", "k1", "{\"note\":\"disk is filling up\"}");
        assertThat(first.status()).isEqualTo(200);
        assertThat(first.json().path("request_id").asText()).isEqualTo("k1");
        assertThat(first.json().path("result").asText()).isEqualTo("applied");
        assertThat(first.json().path("replayed").asBoolean()).isFalse();
        assertThat(first.json().at("/backfill/state").asText()).isEqualTo("paused");
        Client.Answer again = ana.post("/events.thread-root.v1/pause", "k1", "{\"note\":\"another note\"}");
        assertThat(again.json().path("replayed").asBoolean()).isTrue();
        assertThat(again.json().path("result").asText()).isEqualTo("applied");
        Client.Answer other = ana.post("/events.thread-root.v1/pause", "k2");
        assertThat(other.json().path("result").asText()).isEqualTo("converged");
        assertThat(host.operations.performed.get(0).note()).isEqualTo("disk is filling up");
        assertThat(host.operations.performed.get(0).authority().name()).isEqualTo("ana");
    }

    @Test
    void refusals_carry_a_code_and_the_current_row() { // IK-3, IK-4
        Client.Answer illegal = ana.post("/b/resume", "k1");
        assertProblem(illegal, 409, "illegal_transition");
        assertThat(illegal.json().at("/backfill/state").asText()).isEqualTo("pending");
        assertThat(illegal.json().has("findings")).isFalse();
        assertProblem(ana.post("/b/start", "k1"), 409, "request_id_reused");
        for (ConflictCode code : ConflictCode.values()) {
            BackfillSnapshot row = Rows.pending("b").row();
            Finding finding = new Finding(Finding.Code.COLUMN_MISSING, "events.thread_root", "Add it.");
            host.operations.answerNext(r -> new ActionOutcome.Conflict(code, row, List.of(finding), false));
            Client.Answer refused = ana.post("/b/start", "k2");
            assertProblem(refused, 409, code.wireName());
            assertThat(refused.json().at("/findings/0/subject").asText()).isEqualTo("events.thread_root");
        }
    }

    @Test
    void validation_comes_back_as_exactly_one_typed_outcome() { // EV-1
        BackfillSnapshot row = Rows.running("b").row();
        JsonNode success = ana.post("/events.thread-root.v1/validate", "v1").json();
        assertThat(success.path("outcome").asText()).isEqualTo("success");
        assertThat(success.path("reason").isNull()).isTrue();
        assertThat(success.path("diagnostic").isNull()).isTrue();
        JsonNode none = ana.post("/b/validate", "v2").json();
        assertThat(none.path("outcome").asText()).isEqualTo("current-state");
        assertThat(none.path("reason").asText()).isEqualTo("not_started");
        assertThat(none.path("replayed").asBoolean()).isFalse();
        Diagnostic diagnostic = new Diagnostic("validation-rejected", "3 rows are not repaired", null, Rows.T0);
        host.operations.reportNext(r -> new ValidationReport.Failure(diagnostic, row, true));
        JsonNode failure = ana.post("/b/validate", "v3").json();
        assertThat(failure.path("outcome").asText()).isEqualTo("failure");
        assertThat(failure.path("replayed").asBoolean()).isTrue();
        assertThat(failure.at("/diagnostic/message").asText()).isEqualTo("3 rows are not repaired");
        host.operations.reportNext(r -> new ValidationReport.Refused(
                new ActionOutcome.Conflict(ConflictCode.UNKNOWN_HERE, row, List.of(), false)));
        assertProblem(ana.post("/b/validate", "v4"), 409, "unknown_here");
    }

    @Test
    void what_could_not_be_done_says_so_and_may_be_repeated() { // AU-3
        for (Reason reason : Reason.values()) {
            host.operations.answerNext(r -> {
                throw new BackfillUnavailableException(reason, "Try again.", null);
            });
            Client.Answer refused = ana.post("/b/start", "k");
            assertProblem(refused, 503, reason.wireName());
            assertThat(refused.header("Retry-After")).matches("[0-9]+");
            host.operations.failWith(new BackfillUnavailableException(reason, "Try again.", null));
            assertProblem(ana.get("/"), 503, reason.wireName());
            host.operations.failWith(null);
        }
    }

    @Test
    void a_defect_is_a_500_that_says_nothing() { // AU-5
        host.operations.failWith(new IllegalStateException("secret row value"));
        Client.Answer answer = ana.get("/b");
        assertProblem(answer, 500, "internal_error");
        assertThat(answer.text()).doesNotContain("secret").doesNotContain("Exception");
    }

    @Test
    void strangers_learn_nothing_about_ids_and_paths() { // AU-4
        for (String token : new String[] {null, "wrong", TestHost.ANA + "x", TestHost.ANA.substring(1)}) {
            Client stranger = new Client(host.api(), token);
            Client.Answer known = stranger.get("/b");
            assertProblem(known, 401, "unauthenticated");
            assertThat(known.header("WWW-Authenticate")).startsWith("Bearer");
            for (String path : List.of("/nobody", "/", "/audit", "/a/b/c", "/b/audit?limit=x", "/b/nothing", "/%20")) {
                assertThat(stranger.get(path).text()).as(path).isEqualTo(known.text());
            }
            for (String path : List.of("/b/start", "/nobody/start", "/b/nothing", "/")) {
                assertThat(stranger.send("POST", path, "x".repeat(20_000)).text())
                        .isEqualTo(known.text());
                assertThat(stranger.send("DELETE", path, null).text()).isEqualTo(known.text());
            }
        }
        assertThat(host.operations.denials).contains("anonymous/READ/read/b/null", "anonymous/CONTROL/start/b/null");
        assertThat(host.operations.performed).isEmpty();
    }

    @Test
    void a_reader_may_see_everything_and_is_told_the_same_for_every_control() { // AU-1, AU-4
        Client reader = new Client(host.api(), TestHost.READER);
        assertThat(reader.get("/b").status()).isEqualTo(200);
        assertThat(reader.get("/nobody").status()).isEqualTo(404);
        Client.Answer refused = reader.post("/b/start", "k-1");
        assertProblem(refused, 403, "forbidden");
        assertThat(refused.json().has("backfill")).isFalse();
        for (String path : List.of("/nobody/start", "/b/nothing", "/", "/b", "/B/start")) {
            assertThat(reader.send("POST", path, "{").text()).as(path).isEqualTo(refused.text());
            assertThat(reader.send("DELETE", path, null).text()).as(path).isEqualTo(refused.text());
        }
        assertThat(host.operations.denials).contains("operator:dashboard/CONTROL/start/b/k-1");
        assertThat(host.operations.row("b").state()).isEqualTo(BackfillState.PENDING);
    }

    @Test
    void the_scheme_is_bearer_in_any_case_and_given_once() {
        Client nobody = new Client(host.api(), null);
        assertThat(nobody.send("GET", "/", null, "Authorization", "bEARER " + TestHost.ANA)
                        .status())
                .isEqualTo(200);
        assertThat(nobody.send("GET", "/", null, "Authorization", "Basic " + TestHost.ANA)
                        .status())
                .isEqualTo(401);
        assertThat(nobody.send("GET", "/", null, "Authorization", TestHost.ANA).status())
                .isEqualTo(401);
        assertThat(ana.send("GET", "/", null, "Authorization", "Bearer " + TestHost.BEN)
                        .status())
                .isEqualTo(401);
    }

    @Test
    void the_order_of_checks_is_route_method_type_size_body_key_id() {
        assertProblem(ana.send("POST", "/b/nothing", "x"), 404, "not_found");
        Client.Answer method = ana.send("PUT", "/b/start", "x");
        assertProblem(method, 405, "method_not_allowed");
        assertThat(method.header("Allow")).isEqualTo("POST");
        assertThat(ana.send("POST", "/b", null).header("Allow")).isEqualTo("GET, HEAD");
        String big = "x".repeat(16 * 1024 + 1);
        assertProblem(
                ana.send("POST", "/nobody/start", big, "Content-Type", "text/plain"), 415, "unsupported_media_type");
        assertProblem(ana.send("POST", "/nobody/start", big), 415, "unsupported_media_type");
        assertProblem(
                ana.send("POST", "/nobody/start", big, "Content-Type", "application/json"), 413, "body_too_large");
        assertProblem(
                ana.send("POST", "/nobody/start", "{", "Content-Type", "application/json"), 400, "malformed_body");
        assertProblem(ana.send("POST", "/nobody/start", null), 400, "missing_idempotency_key");
        assertProblem(ana.post("/nobody/start", "k"), 404, "unknown_id");
        assertProblem(ana.post("/NOBODY/start", "k"), 404, "unknown_id");
        assertThat(host.operations.performed).hasSize(1);
    }

    @Test
    void the_key_is_required_well_formed_and_given_once() { // IK-2
        assertProblem(ana.send("POST", "/b/start", null), 400, "missing_idempotency_key");
        assertProblem(
                ana.send("POST", "/b/start", null, "Idempotency-Key", "a", "Idempotency-Key", "a"),
                400,
                "repeated_idempotency_key");
        assertProblem(ana.post("/b/start", "x".repeat(129)), 400, "malformed_idempotency_key");
        assertProblem(ana.post("/b/start", "a b"), 400, "malformed_idempotency_key");
        assertProblem(ana.post("/b/start", ""), 400, "malformed_idempotency_key");
        assertThat(host.operations.performed).isEmpty();
        assertThat(ana.post("/b/start", "!" + "~".repeat(127)).status()).isEqualTo(200);
    }

    @Test
    void the_body_is_an_object_with_a_note_of_at_most_500_characters() {
        for (String bad : List.of(
                "[]",
                "1",
                "null",
                "{",
                "{\"note\":1}",
                "{\"note\":{}}",
                "{\"nota\":\"x\"}",
                "{\"note\":\"a\",\"note\":\"b\"}",
                "{} {}",
                "{\"note\":\"" + "x".repeat(501) + "\"}",
                "{'note':'x'}",
                "{\"note\":\"\n\"}",
                "\uFEFF{}",
                "[".repeat(16_000))) {
            assertProblem(ana.post("/b/start", "k", bad), 400, "malformed_body");
        }
        assertThat(host.operations.performed).isEmpty();
        assertThat(ana.post("/b/start", "k", "{\"note\":\"" + "x".repeat(500) + "\"}")
                        .status())
                .isEqualTo(200);
        assertThat(ana.post("/b/start", "k", "{}").status()).isEqualTo(200);
        assertThat(ana.post("/b/start", "k", "{\"note\":null}").status()).isEqualTo(200);
        assertThat(ana.send(
                                "POST",
                                "/b/start",
                                "{}",
                                "Idempotency-Key",
                                "k",
                                "Content-Type",
                                "application/json; charset=UTF-8")
                        .status())
                .isEqualTo(200);
    }

    @Test
    void the_audit_is_paged_newest_first() {
        for (int i = 1; i <= 5; i++) {
            host.operations.record(new AuditLine(
                    i, Rows.T0, "ana", "operator", "b", "k" + i, "start", "pending", "pending", 0L, "converged", null));
        }
        JsonNode page = ana.get("/b/audit?limit=2").json();
        assertThat(page.at("/items/0/audit_id").asText()).isEqualTo("5");
        assertThat(page.at("/items/0/generation").isTextual()).isTrue();
        assertThat(page.path("next_before").asText()).isEqualTo("4");
        JsonNode last = ana.get("/audit?limit=200&before=3&other=x").json();
        assertThat(last.path("items")).hasSize(2);
        assertThat(last.path("next_before").isNull()).isTrue();
        for (String bad : List.of(
                "limit=0",
                "limit=201",
                "limit=",
                "limit",
                "limit=1&limit=1",
                "before=-1",
                "before=x",
                "before=99999999999999999999",
                "x=" + "y".repeat(2_100))) {
            assertProblem(ana.get("/audit?" + bad), 400, "invalid_query");
        }
        assertThat(ana.get("/audit?limit=%31").json().path("items")).hasSize(1);
        assertProblem(ana.get("/nobody/audit"), 404, "unknown_id");
    }

    @Test
    void preflight_has_errors_warnings_and_estimates() {
        Finding trigger =
                new Finding(Finding.Code.TRIGGER_FIRES, "events.audit_trigger", "Fires for every repaired row.");
        host.operations.preflightIs(
                new Preflight(List.of(), List.of(trigger), new Preflight.Estimates(200_000L, "planner", null, null)));
        JsonNode found = ana.get("/b/preflight").json();
        assertThat(found.path("errors")).isEmpty();
        assertThat(found.at("/warnings/0/code").asText()).isEqualTo("trigger_fires");
        assertThat(found.path("estimates").toString())
                .isEqualTo("{\"rows\":\"200000\",\"rows_basis\":\"planner\",\"wal_bytes\":null,\"wal_basis\":null}");
        assertProblem(ana.get("/nobody/preflight"), 404, "unknown_id");
    }

    @Test
    void everything_carries_the_same_safe_headers_and_no_cookie() {
        host.operations.put(Rows.running("w").waiting(Waiting.Reason.START_BARRIER, "1 open transaction"));
        for (Client.Answer answer : List.of(
                ana.get("/"),
                ana.get("/nobody"),
                ana.post("/b/start", ""),
                new Client(host.api(), null).get("/"),
                ana.get("/console/"),
                ana.get("/console/app.js"),
                ana.get("/console/nothing"),
                ana.get("/openapi.json"),
                ana.send("GET", "/", null, "Origin", "https://elsewhere.example"))) {
            assertThat(answer.header("Cache-Control")).isEqualTo("no-store");
            assertThat(answer.header("X-Content-Type-Options")).isEqualTo("nosniff");
            assertThat(answer.header("Content-Security-Policy"))
                    .startsWith("default-src 'none'; script-src 'self'; style-src 'self';")
                    .doesNotContain("unsafe");
            assertThat(answer.headers().map().keySet())
                    .noneMatch(h -> h.matches("(?i)set-cookie|access-control-.*|server"));
        }
    }

    @Test
    void the_console_and_the_description_load_without_a_token_and_nothing_beside_them_does() {
        Client nobody = new Client(host.api(), null);
        assertThat(nobody.get("/console").status()).isEqualTo(308);
        assertThat(nobody.get("/console").header("Location")).isEqualTo("console/");
        assertThat(nobody.get("/console/").header("Content-Type")).isEqualTo("text/html;charset=utf-8");
        assertThat(nobody.get("/console/app.js").header("Content-Type")).isEqualTo("text/javascript;charset=utf-8");
        assertThat(nobody.get("/console/diagnostics.json")
                        .json()
                        .at("/data-error/remedy")
                        .asText())
                .contains("retry");
        assertProblem(nobody.get("/console/../openapi.json"), 200, "");
        assertProblem(nobody.get("/console/package-info.class"), 404, "not_found");
        assertProblem(nobody.send("POST", "/console/", "x"), 405, "method_not_allowed");
    }

    @Test
    void head_is_get_without_a_body_and_other_methods_are_refused() {
        Client.Answer head = ana.send("HEAD", "/b", null);
        assertThat(head.status()).isEqualTo(200);
        assertThat(head.text()).isEmpty();
        assertThat(Integer.parseInt(head.header("Content-Length")))
                .isEqualTo(ana.get("/b").text().length());
        assertProblem(ana.send("OPTIONS", "/b", null), 405, "method_not_allowed");
        assertProblem(ana.send("PATCH", "/b", "{}"), 405, "method_not_allowed");
    }

    static void assertProblem(Client.Answer answer, int status, String code) {
        assertThat(answer.status()).as(answer.text()).isEqualTo(status);
        if (status < 400) {
            return;
        }
        assertThat(answer.header("Content-Type")).isEqualTo("application/problem+json");
        JsonNode json = answer.json();
        assertThat(json.path("code").asText()).isEqualTo(code);
        assertThat(json.path("status").asInt()).isEqualTo(status);
        assertThat(json.path("type").asText()).isNotEmpty();
        assertThat(json.path("title").asText()).isNotEmpty();
        assertThat(json.path("detail").asText()).isNotEmpty();
    }
}
