package dev.backfill.admin;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import dev.backfill.admin.cli.CliDriver;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Preflight;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.operate.ValidationReport;
import java.net.URI;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The command line against a real listener and a plane that does as it is told. */
class BackfillCliTest {

    private TestHost host;
    private Runnable meanwhile = () -> {};

    @BeforeEach
    void start() throws Exception {
        host = new TestHost();
        host.operations.put(Rows.running("r").required());
        host.operations.put(Rows.pending("p"));
    }

    @AfterEach
    void stop() {
        host.close();
    }

    @Test
    void the_list_is_a_table_for_people_and_the_answer_for_scripts() throws Exception {
        CliDriver.Ran table = ana("list");
        assertThat(table.code()).isZero();
        assertThat(table.out().lines().toList().get(0)).matches("ID +STATE +DONE +ROWS +RATE +LEFT +OBSTACLE");
        assertThat(table.out()).containsPattern("r +running +42\\.1 % +84,210 +1,41[23]/s +1 min 22 s +-");
        assertThat(table.out())
                .containsPattern("p +pending +- +0 +- +- +-")
                .contains("Readiness gate closed: r (running: running)");
        JsonNode json = new ObjectMapper().readTree(ana("list", "--json").out());
        assertThat(json).isEqualTo(new Client(host.api(), TestHost.ANA).get("/").json());
    }

    @Test
    void what_is_unknown_is_called_unknown() { // RM-2
        host.operations.put(Rows.running("r").progress(5, null));
        assertThat(ana("show", "r").out()).containsPattern("done +unknown").containsPattern("rows +5 of unknown");
    }

    @Test
    void controls_say_what_became_of_them_and_carry_note_and_request_id() { // IK-2
        CliDriver.Ran first = ana("pause", "r", "--note", "Grüße", "--request-id", "k1");
        assertThat(first.code()).isZero();
        assertThat(first.out()).isEqualTo("r: done. It is paused.\n");
        OperatorRequest seen = host.operations.performed.get(0);
        assertThat(seen.note()).isEqualTo("Grüße");
        assertThat(seen.requestId()).isEqualTo("k1");
        assertThat(ana("pause", "r", "--request-id", "k1").out()).contains("earlier copy of this request");
        assertThat(ana("pause", "r").out()).contains("it was so already");
    }

    @Test
    void refusals_have_their_own_exit_codes() {
        assertThat(ana("resume", "p").code()).isEqualTo(3);
        assertThat(ana("resume", "p").err()).contains("illegal_transition", "It is pending.");
        assertThat(new CliDriver(host.api(), "wrong", () -> {}).run("list").code())
                .isEqualTo(4);
        assertThat(new CliDriver(host.api(), TestHost.READER, () -> {})
                        .run("pause", "r")
                        .code())
                .isEqualTo(4);
        assertThat(ana("show", "nobody").code()).isEqualTo(5);
        assertThat(ana("pause", "../x").code()).isNotZero();
        host.operations.failWith(
                new BackfillUnavailableException(Reason.SCHEMA_MISSING, "The tables are missing.", null));
        assertThat(ana("list").code()).isEqualTo(6);
        assertThat(ana("list").err()).contains("schema_missing: The tables are missing.");
    }

    @Test
    void wrong_usage_is_told_before_anything_is_sent() {
        for (String[] wrong : List.of(
                new String[] {},
                new String[] {"pause"},
                new String[] {"frobnicate"},
                new String[] {"list", "--url", "ftp://x"},
                new String[] {"pause", "r", "--request-id", "a b"},
                new String[] {"pause", "r", "--note", "x".repeat(501)},
                new String[] {"pause", "r", "--token", "x"},
                new String[] {"watch", "r", "--timeout", "soon"})) {
            CliDriver.Ran ran = ana(wrong);
            assertThat(ran.code()).as(String.join(" ", wrong)).isEqualTo(2);
        }
        assertThat(host.operations.performed).isEmpty();
    }

    @Test
    void the_token_comes_from_a_file_too_and_is_never_printed(@TempDir Path directory) throws Exception {
        Path file = Files.writeString(directory.resolve("token"), TestHost.ANA + "\n");
        CliDriver nobody = new CliDriver(host.api(), "wrong", () -> {});
        CliDriver.Ran ran = nobody.run("list", "--token-file", file.toString());
        assertThat(ran.code()).isZero();
        CliDriver.Ran missing =
                nobody.run("list", "--token-file", directory.resolve("none").toString());
        assertThat(missing.code()).isEqualTo(2);
        assertThat(missing.err() + ran.out() + ran.err()).doesNotContain(TestHost.ANA);
    }

    @Test
    void a_lost_answer_is_asked_for_again_with_the_same_request() { // IK-2
        host.dropAnswers(2);
        CliDriver.Ran ran = ana("pause", "r");
        assertThat(ran.code()).isZero();
        assertThat(ran.out()).contains("It is paused.");
        assertThat(host.operations.performed.stream()
                        .map(OperatorRequest::requestId)
                        .distinct())
                .hasSize(1);
    }

    @Test
    void an_outcome_that_stays_unknown_is_called_so_with_the_way_to_learn_it() { // IK-2
        host.dropAnswers(1_000);
        CliDriver.Ran ran = ana("pause", "r", "--request-id", "k7");
        assertThat(ran.code()).isEqualTo(6);
        assertThat(ran.err()).contains("not known whether 'pause' happened", "backfill pause r --request-id k7");
        assertThat(ana("pace", "r", "--rows-per-second", "200", "--note", "ben's rush hour", "--request-id", "k8")
                        .err())
                .contains(
                        "can't act twice: backfill pace r --rows-per-second 200 --note 'ben'\\''s rush hour' --request-id k8");
        assertThat(ana("rehearse", "r").err())
                .containsPattern(
                        "'rehearse' happened.* Nothing of it was kept. This rehearses again: backfill rehearse r --request-id cli-");
    }

    @Test
    void a_503_after_a_lost_answer_does_not_claim_that_nothing_happened() {
        host.dropAnswers(1);
        meanwhile = () -> host.operations.answerNext(r -> {
            throw new BackfillUnavailableException(Reason.BUSY, "locked", null);
        });
        CliDriver.Ran ran = ana("pause", "r");
        assertThat(ran.code()).isEqualTo(6);
        assertThat(ran.err()).contains("not known whether");
        assertThat(host.operations.row("r").state()).isEqualTo(BackfillState.PAUSED);
    }

    @Test
    void a_server_that_is_not_there_is_unavailable() {
        URI gone = host.api();
        host.close();
        CliDriver.Ran ran = new CliDriver(gone, TestHost.ANA, () -> {}).run("list");
        assertThat(ran.code()).isEqualTo(6);
        assertThat(ran.err()).contains("No answer from");
    }

    @Test
    void waiting_ends_when_it_is_completed() {
        AtomicInteger rounds = new AtomicInteger();
        meanwhile = () -> host.operations.put(
                rounds.incrementAndGet() < 3
                        ? Rows.running("p").progress(50_000L * rounds.get(), 200_000L)
                        : Rows.running("p").progress(200_000, 200_000L).state(BackfillState.COMPLETED));
        CliDriver.Ran ran = ana("start", "p", "--wait");
        assertThat(ran.code()).isZero();
        assertThat(ran.err()).contains("running    [#######.......................] 25.0 %  50,000 of 200,000 rows");
        assertThat(ran.err()).contains("completed  [##############################] 100.0 %");
    }

    @Test
    void waiting_ends_when_it_stops_short() {
        meanwhile = () ->
                host.operations.put(Rows.running("r").diagnostic(BackfillState.BLOCKED, "data-error", "id 7", "23505"));
        CliDriver.Ran ran = ana("watch", "r");
        assertThat(ran.code()).isEqualTo(9);
        assertThat(ran.err()).contains("blocked", "data-error: id 7");
    }

    @Test
    void waiting_outlives_a_server_that_is_away_for_a_moment_and_ends_with_its_time() {
        AtomicInteger rounds = new AtomicInteger();
        meanwhile = () -> host.operations.failWith(
                rounds.incrementAndGet() < 3
                        ? new BackfillUnavailableException(Reason.UNAVAILABLE, "Gone.", null)
                        : null);
        CliDriver.Ran ran = ana("watch", "r", "--timeout", "500ms");
        assertThat(ran.code()).isEqualTo(10);
        assertThat(ran.err()).contains("not current: Gone.");
    }

    @Test
    void validation_outcomes_have_their_own_exit_codes() { // EV-1
        assertThat(ana("validate", "r").code()).isZero();
        host.operations.reportNext(r -> new ValidationReport.Failure(
                new Diagnostic("validation-rejected", "3 rows", null, null), host.operations.row("r"), false));
        CliDriver.Ran failure = ana("validate", "r");
        assertThat(failure.code()).isEqualTo(7);
        assertThat(failure.out()).contains("validation-rejected: 3 rows");
        CliDriver.Ran none = ana("validate", "p");
        assertThat(none.code()).isEqualTo(8);
        assertThat(none.out()).contains("current-state", "not_started");
    }

    @Test
    void a_validation_that_runs_longer_is_asked_for_again_as_the_same_request() { // EV-4
        host.operations.reportNext(r ->
                new ValidationReport.CurrentState(ValidationReport.Reason.ALREADY_RUNNING, host.operations.row("r")));
        CliDriver.Ran ran = ana("validate", "r", "--wait");
        assertThat(ran.code()).isZero();
        assertThat(host.operations.performed.stream()
                        .map(OperatorRequest::requestId)
                        .distinct())
                .hasSize(1);
    }

    @Test
    void preflight_and_audit_are_readable_and_errors_count_as_refusal() {
        assertThat(ana("preflight", "p").code()).isZero();
        host.operations.preflightIs(new Preflight(
                List.of(new Finding(Finding.Code.COLUMN_MISSING, "events.x", "Add it.")),
                List.of(),
                new Preflight.Estimates(null, null, null, null)));
        CliDriver.Ran errors = ana("preflight", "p");
        assertThat(errors.code()).isEqualTo(3);
        assertThat(errors.out()).contains("error column_missing, events.x: Add it.", "rows: unknown");
        host.operations.record(new AuditLine(
                7,
                Rows.T0,
                "ana",
                "operator",
                "p",
                "k",
                "start",
                "pending",
                "running",
                1L,
                "applied",
                "\u001b[2Jnote"));
        CliDriver.Ran audit = ana("audit", "p", "--limit", "5");
        assertThat(audit.out()).contains("ana", "applied", "note").doesNotContain("\u001b");
    }

    @Test
    void a_verdict_is_readable_and_is_an_exit_code_for_scripts() { // RM-4
        CliDriver.Ran all = ana("verdict", "r");
        assertThat(all.code()).isZero();
        assertThat(all.out())
                .containsPattern("may start\\? +NO")
                .containsPattern("may contract\\? +NO")
                .contains("not_completed: It is running.")
                .containsPattern("work left: +1 min 22 s");
        assertThat(ana("verdict", "r", "--may", "contract").code()).isEqualTo(3);
        assertThat(ana("verdict", "p", "--may", "start").code()).isZero();
        host.operations.put(Rows.pending("p").unknownHere());
        assertThat(ana("verdict", "p", "--may", "start").code()).isEqualTo(8);
        assertThat(ana("verdict", "p", "--may", "delete").code()).isEqualTo(2);
    }

    @Test
    void evidence_is_one_document_for_people_or_for_machines() throws Exception {
        ana("pause", "r", "--note", "disk");
        assertThat(ana("evidence", "r").out())
                .contains("PostgreSQL 17.2", "generation", "may remove code: no.", "disk")
                .containsPattern("table +events");
        assertThat(new ObjectMapper()
                        .readTree(ana("evidence", "r", "--json").out())
                        .at("/audit/items/0/note")
                        .asText())
                .isEqualTo("disk");
    }

    @Test
    void show_says_what_to_do() {
        assertThat(ana("show", "p").out()).contains("What to do: Roll out the write path", "backfill start p");
        host.operations.put(Rows.running("r").diagnostic(BackfillState.BLOCKED, "data-error", "id = 7", "23505"));
        assertThat(ana("show", "r").out()).containsPattern("What to do: .*[Cc]orrect.* Then 'backfill retry r'");
        host.operations.put(Rows.running("r").state(BackfillState.PAUSED));
        assertThat(ana("show", "r").out()).contains("backfill resume r");
    }

    @Test
    void the_list_is_filtered_by_the_server_and_families_are_one_line() {
        host.operations.put(Rows.running("f.p1").partOf("f").progress(50, 100L));
        host.operations.put(Rows.running("f.p2").partOf("f").progress(0, 100L));
        assertThat(ana("list").out()).containsPattern("f +running +25\\.0 %").doesNotContain("f.p1");
        assertThat(ana("list", "--parts").out()).contains("f.p1", "f.p2");
        assertThat(ana("list", "--family", "f").out()).contains("f.p1").doesNotContain("pending");
        assertThat(ana("list", "--state", "pending").out()).contains("p ").doesNotContain("f ");
        assertThat(ana("list", "--label", "team:none", "x").out()).doesNotContain("running  ");
        assertThat(ana("show", "f").out()).containsPattern("rows +50 of 200");
    }

    @Test
    void several_servers_are_one_table(@TempDir Path directory) throws Exception {
        try (TestHost other = new TestHost()) {
            other.operations.put(Rows.pending("there"));
            Path token = Files.writeString(directory.resolve("token"), TestHost.BEN);
            Path file = Files.writeString(
                    directory.resolve("servers"),
                    "# the fleet\neu " + host.api() + "\nus " + other.api() + " " + token + "\n");
            CliDriver driver = CliDriver.ofServers(file, TestHost.ANA);
            CliDriver.Ran both = driver.run("list", "--server", "eu,us");
            assertThat(both.err()).isEmpty();
            assertThat(both.out())
                    .containsPattern("SERVER +ID")
                    .containsPattern("eu +r +running")
                    .containsPattern("us +there +pending");
            assertThat(driver.run("list", "--server", "all").out()).isEqualTo(both.out());
            assertThat(driver.run("show", "there", "--server", "us").code()).isZero();
            assertThat(driver.run("pause", "r", "--server", "eu,us").code()).isEqualTo(2);
            assertThat(driver.run("list", "--server", "asia").err()).contains("no server 'asia'");
        }
        assertThat(host.operations.performed).isEmpty();
    }

    @Test
    void several_are_watched_at_once_and_the_worst_end_is_the_exit_code() {
        meanwhile = () -> {
            host.operations.put(Rows.running("r").progress(9, 9L).state(BackfillState.COMPLETED));
            host.operations.put(Rows.running("p").diagnostic(BackfillState.BLOCKED, "data-error", "id = 7", null));
        };
        CliDriver.Ran ran = ana("watch", "r", "p");
        assertThat(ran.code()).isEqualTo(9);
        assertThat(ran.err()).contains("r: completed", "p: blocked");
    }

    @Test
    void a_mistyped_command_is_suggested_and_shells_can_complete() {
        assertThat(ana("strat", "r").err()).contains("Did you mean 'start'?");
        for (String shell : List.of("bash", "zsh", "fish")) {
            CliDriver.Ran script = ana("completion", shell);
            assertThat(script.code()).as(shell).isZero();
            assertThat(script.out()).contains("complete", "verdict", "request-id");
        }
    }

    private CliDriver.Ran ana(String... args) {
        return new CliDriver(host.api(), TestHost.ANA, () -> meanwhile.run()).run(args);
    }
}
