package dev.backfill.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backfill.operate.BackfillState;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The list in pages, by filters and with families as one line. */
class ListTest {

    private final OpenApi openApi = new OpenApi();
    private TestHost host;
    private Client ana;

    @BeforeEach
    void start() throws Exception {
        host = new TestHost();
        ana = new Client(host.api(), TestHost.ANA);
        host.operations.put(Rows.running("a.run"));
        host.operations.put(Rows.pending("b.wait").labelled(Map.of("team", "search", "table", "events")));
        host.operations.put(Rows.running("c.done").progress(9, 9L).state(BackfillState.COMPLETED));
        host.operations.put(Rows.pending("f.p1").partOf("f"));
        host.operations.put(Rows.running("f.p2").partOf("f").progress(50, 200L));
        host.operations.put(Rows.running("f.p3").partOf("f").progress(100, 100L).state(BackfillState.COMPLETED));
    }

    @AfterEach
    void stop() {
        host.close();
    }

    @Test
    void without_parameters_it_holds_everything_and_counts_it() {
        JsonNode list = list("");
        assertThat(ids(list)).containsExactly("a.run", "b.wait", "c.done", "f.p1", "f.p2", "f.p3");
        assertThat(list.path("counts").toString())
                .isEqualTo("{\"pending\":2,\"running\":2,\"paused\":0,\"blocked\":0,\"failed\":0,\"validating\":0,"
                        + "\"completed\":2}");
        assertThat(list.path("next_after").isNull()).isTrue();
    }

    @Test
    void filters_narrow_it_and_the_counts_say_what_another_state_would_show() {
        assertThat(ids(list("?state=running"))).containsExactly("a.run", "f.p2");
        assertThat(ids(list("?state=running&state=completed"))).containsExactly("a.run", "c.done", "f.p2", "f.p3");
        assertThat(ids(list("?label=team:search&label=table:events"))).containsExactly("b.wait");
        assertThat(ids(list("?label=team:other"))).isEmpty();
        assertThat(ids(list("?q=B.WA"))).containsExactly("b.wait");
        assertThat(ids(list("?q=thread_root")).size()).isEqualTo(6);
        assertThat(ids(list("?family=f"))).containsExactly("f.p1", "f.p2", "f.p3");
        assertThat(list("?state=running&q=f.").at("/counts/completed").asInt()).isEqualTo(1);
    }

    @Test
    void pages_follow_one_another_without_a_gap_or_a_repeat() {
        for (String filter : List.of("", "&collapse=families", "&q=e", "&state=running&state=pending")) {
            List<String> all = ids(list("?limit=1000" + filter));
            List<String> paged = new ArrayList<>();
            String after = "";
            do {
                JsonNode page = list("?limit=2" + filter + after);
                assertThat(page.path("backfills").size()).isLessThanOrEqualTo(2);
                paged.addAll(ids(page));
                after = page.path("next_after").isNull()
                        ? ""
                        : "&after=" + page.path("next_after").asText();
            } while (!after.isEmpty());
            assertThat(paged).as(filter).isEqualTo(all);
        }
    }

    @Test
    void a_family_is_one_line_with_the_sum_of_its_parts_and_the_state_of_the_part_that_needs_somebody_most() {
        JsonNode list = list("?collapse=families");
        assertThat(ids(list)).containsExactly("a.run", "b.wait", "c.done", "f");
        JsonNode sum = list.path("backfills").get(3);
        assertThat(sum.path("family").asText()).isEqualTo("f");
        assertThat(sum.path("state").asText()).isEqualTo("running");
        assertThat(sum.at("/progress/rows_scanned").asText()).isEqualTo("150");
        assertThat(sum.at("/progress/rows_total").isNull()).isTrue(); // the first part was never counted
        assertThat(sum.at("/claim/generation").isNull()).isTrue();
        host.operations.put(Rows.running("f.p1")
                .partOf("f")
                .progress(10, 100L)
                .diagnostic(BackfillState.BLOCKED, "data-error", "id = 7", "22003"));
        sum = list("?collapse=families&state=blocked").path("backfills").get(0);
        assertThat(sum.at("/diagnostic/code").asText()).isEqualTo("data-error");
        assertThat(sum.at("/progress/fraction").asDouble()).isEqualTo(0.4);
        assertThat(list("?collapse=families").at("/counts/completed").asInt()).isEqualTo(1);
        assertThat(ids(list("?collapse=families&q=f.p2"))).containsExactly("f");
    }

    @Test
    void the_id_of_a_family_answers_with_its_sum_and_its_parts_in_pages() {
        Client.Answer answer = ana.get("/f?limit=2");
        openApi.judge("/{id}", "get", answer);
        JsonNode family = answer.json();
        assertThat(family.path("parts")).hasSize(2);
        assertThat(family.path("next_after").asText()).isEqualTo("f.p2");
        assertThat(family.at("/progress/batches").asText()).isEqualTo("0");
        assertThat(ana.get("/f?limit=2&after=f.p2").json().at("/parts/0/id").asText())
                .isEqualTo("f.p3");
        assertThat(ana.get("/g").status()).isEqualTo(404);
    }

    @Test
    void a_completed_backfill_that_changed_nothing_says_so() {
        assertThat(ana.get("/c.done").json().path("changed_nothing").asBoolean())
                .isFalse();
        host.operations.put(
                Rows.running("c.done").progress(9, 9L).changedNothing().state(BackfillState.COMPLETED));
        assertThat(ana.get("/c.done").json().path("changed_nothing").asBoolean())
                .isTrue();
    }

    @Test
    void what_could_be_meant_otherwise_is_refused() {
        for (String query : List.of(
                "?state=done",
                "?label=team",
                "?label=:x",
                "?after=A%20B",
                "?family=%C3%84",
                "?limit=0",
                "?limit=1001",
                "?limit=1&limit=2",
                "?collapse=all",
                "?q=" + "x".repeat(201),
                "?x=" + "y".repeat(5_000))) {
            Client.Answer answer = ana.get("/" + query);
            assertThat(answer.status()).as(query).isEqualTo(400);
            openApi.judge("/", "get", answer);
        }
    }

    private JsonNode list(String query) {
        Client.Answer answer = ana.get("/" + query);
        openApi.judge("/", "get", answer);
        return answer.json();
    }

    private static List<String> ids(JsonNode list) {
        List<String> ids = new ArrayList<>();
        list.path("backfills").forEach(row -> ids.add(row.path("id").asText()));
        return ids;
    }
}
