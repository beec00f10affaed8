package dev.backfill.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backfill.operate.BackfillSnapshot.ValidationDisposition;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Preflight;
import dev.backfill.operate.Preflight.Finding;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What may be done with a backfill, with reasons (RM-4). */
class VerdictsTest {

    private final OpenApi openApi = new OpenApi();
    private TestHost host;
    private Client ana;

    @BeforeEach
    void start() throws Exception {
        host = new TestHost();
        ana = new Client(host.api(), TestHost.ANA);
    }

    @AfterEach
    void stop() {
        host.close();
    }

    @Test
    void a_pending_one_may_start_when_preflight_finds_no_error() { // RM-4
        host.operations.put(Rows.pending("b"));
        expect("may_start", "yes", "preflight_passed");
        expect("may_contract", "no", "not_completed");
        expect("may_remove_code", "no", "not_completed");
        host.operations.preflightIs(new Preflight(
                List.of(new Finding(Finding.Code.COLUMN_MISSING, "events.x", "Add it.")),
                List.of(),
                new Preflight.Estimates(null, null, null, null)));
        expect("may_start", "no", "column_missing");
        host.operations.put(Rows.pending("b").unknownHere());
        expect("may_start", "cannot_tell", "unknown_here");
    }

    @Test
    void a_completed_one_may_be_contracted_and_removed_once_nobody_registers_it() { // RM-4
        Rows completed = Rows.running("b").progress(9, 9L).state(BackfillState.COMPLETED);
        host.operations.put(completed);
        expect("may_start", "no", "already_started");
        expect("may_contract", "yes", "completed");
        expect("may_remove_code", "yes", "completed_and_quiet");
        assertThat(verdicts().path("time_left").asText()).isEqualTo("PT0S");
        host.operations.registeredAt = Rows.T0.plusSeconds(3_500);
        expect("may_remove_code", "cannot_tell", "registered_recently");
        host.operations.registeredAt = null;
        expect("may_remove_code", "cannot_tell", "never_registered");
        host.operations.put(completed.required());
        expect("may_remove_code", "no", "required_here");
        host.operations.put(completed.changedNothing());
        expect("may_contract", "yes", "changed_nothing");
    }

    @Test
    void a_completion_that_a_later_validation_rejected_is_no_ground_to_stand_on() { // EV-3, RM-4
        host.operations.put(Rows.running("b")
                .progress(9, 9L)
                .state(BackfillState.COMPLETED)
                .validation(ValidationDisposition.FAILURE, "k", null));
        expect("may_contract", "no", "no_longer_true");
        expect("may_remove_code", "no", "no_longer_true");
    }

    @Test
    void work_that_is_left_is_told_while_it_stands_still_and_unknown_where_it_can_not_be_defended() { // RM-2
        host.operations.put(Rows.running("b").state(BackfillState.PAUSED));
        assertThat(verdicts().path("time_left").asText()).isEqualTo("PT1M22S");
        host.operations.put(Rows.running("b").progress(5, null));
        assertThat(verdicts().path("time_left").isNull()).isTrue();
    }

    @Test
    void what_is_not_true_of_one_part_is_not_true_of_the_family() {
        host.operations.put(Rows.running("f.p1").partOf("b").progress(9, 9L).state(BackfillState.COMPLETED));
        host.operations.put(Rows.running("f.p2").partOf("b"));
        expect("may_contract", "no", "not_completed");
        host.operations.put(Rows.running("f.p2").partOf("b").progress(9, 9L).state(BackfillState.COMPLETED));
        expect("may_contract", "yes", "completed");
    }

    @Test
    void the_evidence_is_one_document_of_all_that_is_known() {
        host.operations.put(Rows.pending("b"));
        for (int i = 0; i < 250; i++) {
            ana.post("/b/pause", "k" + i);
        }
        Client.Answer answer = ana.get("/b/evidence");
        openApi.judge("/{id}/evidence", "get", answer);
        JsonNode evidence = answer.json();
        assertThat(evidence.at("/audit/items")).hasSize(250);
        assertThat(evidence.at("/definition/table").asText()).isEqualTo("events");
        assertThat(evidence.at("/verdicts/may_start/verdict").asText()).isEqualTo("yes");
        assertThat(evidence.path("backfill")).isEqualTo(ana.get("/b").json());
        openApi.judge("/{id}/evidence", "get", ana.get("/nobody/evidence"));
    }

    private void expect(String question, String verdict, String code) {
        JsonNode found = verdicts().path(question);
        assertThat(found.path("verdict").asText()).as(question).isEqualTo(verdict);
        assertThat(found.at("/reasons/0/code").asText()).as(question).isEqualTo(code);
        assertThat(found.at("/reasons/0/message").asText()).isNotEmpty();
    }

    private JsonNode verdicts() {
        Client.Answer answer = ana.get("/b/verdicts");
        openApi.judge("/{id}/verdicts", "get", answer);
        return answer.json();
    }
}
