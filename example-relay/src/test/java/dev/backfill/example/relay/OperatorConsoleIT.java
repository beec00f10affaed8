package dev.backfill.example.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.backfill.admin.Browser;
import dev.backfill.admin.Client;
import dev.backfill.example.relay.backfills.ThreadRoots;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The console in a real browser against a real relay: what an operator does at night, and what can go wrong meanwhile. */
@PostgresTest
class OperatorConsoleIT {

    private static final String TOKEN = "a-token-of-the-test";
    private static final String ID = ThreadRoots.ID;
    private static final String DETAIL = "#/b/" + ID;
    private static final String FIRST_REPLY = "(SELECT min(id) FROM events WHERE tags ?? 'e')";

    private static Browser browser;

    private final TestDatabase database;

    @TempDir
    Path directory;

    OperatorConsoleIT(TestDatabase database) {
        this.database = database;
    }

    @BeforeAll
    static void open() throws Exception {
        assumeTrue(Browser.isInstalled(), "chromium and chromedriver are not installed");
        browser = new Browser();
    }

    @AfterAll
    static void quit() {
        if (browser != null) {
            browser.close();
        }
    }

    @BeforeEach
    void empty() {
        database.clear();
    }

    @Test
    void a_backfill_is_taken_from_pending_to_completed_and_validated() throws Exception { // LC, EV, CT-12
        try (RunningRelay relay = relay("--auto-backfill", "off", "--batch-size", "1")) {
            signIn(relay);
            browser.open(DETAIL);
            awaitState("pending");
            browser.click("[data-key=preflight]");
            browser.untilText("Nothing stands in the way of a start.");
            browser.confirm("start");
            awaitState("running");
            awaitItsOwner();
            browser.confirm("pause");
            awaitState("paused");
            browser.untilText("Pause: done. It is now paused.");
            browser.confirm("resume");
            awaitState("completed");
            assertThat(browser.shows("[data-action]")).isTrue();
            assertThat(browser.shows("[data-action=pause], [data-action=start], [data-action=retry]"))
                    .isFalse();
            browser.confirm("validate");
            browser.untilText("Validation: success.");
            database.update("UPDATE events SET thread_root = NULL WHERE id = " + FIRST_REPLY);
            browser.confirm("validate");
            browser.untilText("Validation: failure.");
            browser.find(".now[data-state=completed]");
            browser.find("[data-disposition=failure]");
        }
    }

    /** Until the page shows the generation under which somebody works: who decides on an older one is told to look again. */
    private void awaitItsOwner() {
        Eventually.until("the page shows the owner's generation", () -> {
            String generation = database.queryText("SELECT generation::text FROM backfill WHERE claim_token IS NOT NULL"
                    + " AND id = 'events.thread-root.v1'");
            return generation != null && browser.text().contains("Generation\n" + generation + "\n");
        });
    }

    @Test
    void a_blocked_backfill_says_why_and_goes_on_after_the_cause_was_removed() throws Exception { // RB-4
        try (RunningRelay relay = relay("--auto-backfill", "off", "--retry-base", "50ms", "--retry-cap", "200ms")) {
            signIn(relay);
            database.update("UPDATE events SET tags = '{\"e\": [\"secret-value\"]}' WHERE id = " + FIRST_REPLY);
            browser.open(DETAIL);
            browser.confirm("start");
            awaitState("blocked");
            browser.untilText("What to do:");
            assertThat(browser.text()).contains("data-error").doesNotContain("secret-value");
            database.update("UPDATE events SET tags = '{}' WHERE tags ->> 'e' LIKE '%secret%'");
            browser.confirm("retry");
            awaitState("completed");
        }
    }

    @Test
    void a_gated_host_is_recovered_through_the_console_alone() throws Exception { // CF-3, CT-13
        try (RunningRelay relay = relay("--batch-size", "1")) {
            signIn(relay);
            browser.find("[data-gate=closed]");
            browser.open(DETAIL);
            awaitItsOwner();
            browser.confirm("pause");
            awaitState("paused");
            relay.awaitNotReadyBecauseOf("backfills");
            browser.confirm("resume");
            awaitState("completed");
            relay.awaitReady();
            browser.open("#/");
            browser.find("[data-gate=open]");
        }
    }

    @Test
    void an_answer_lost_after_the_commit_is_recovered_without_a_second_action() throws Exception { // IK-2
        try (RunningRelay relay = relay("--auto-backfill", "off", "--batch-size", "1");
                LossyProxy proxy = new LossyProxy(relay.adminPort())) {
            relay.awaitStarted();
            browser.signIn(URI.create("http://localhost:" + proxy.port() + "/admin/backfills"), TOKEN);
            browser.open(DETAIL);
            awaitState("pending");
            proxy.loseAnswers(2);
            browser.confirm("start");
            browser.untilText("Start: done.");
            assertThat(proxy.lost()).isPositive();
            browser.untilText("An answer was lost on the way");
            assertThat(database.queryLong("SELECT count(*) FROM backfill_request"))
                    .isEqualTo(1);
            assertThat(database.queryLong(
                            "SELECT count(*) FROM backfill_audit WHERE action = 'start' AND outcome = 'applied'"))
                    .isEqualTo(1);
        }
    }

    @Test
    void a_killed_relay_leaves_marked_data_and_another_token_afterwards_asks_to_sign_in() throws Exception { // RM-2
        int port;
        try (RunningRelay relay = relay("--auto-backfill", "off")) {
            signIn(relay);
            port = relay.adminPort();
            browser.open(DETAIL);
            awaitState("pending");
            relay.kill();
            browser.untilText("The server did not answer.");
            browser.until(
                    "disabled actions",
                    () -> !browser.find("[data-action=start]").isEnabled());
            assertThat(browser.text()).containsPattern("Not current: .* old");
        }
        try (RunningRelay relay = relay(
                "--auto-backfill", "off", "--admin-port", Integer.toString(port), "--admin-token", "another-token")) {
            relay.awaitStarted();
            browser.untilText("Your token is not valid any more.");
            browser.click("[data-key=back-in]");
            browser.enter("another-token");
            browser.until(
                    "enabled actions", () -> browser.find("[data-action=start]").isEnabled());
        }
    }

    @Test
    void the_slower_of_two_operators_is_told_what_happened_meanwhile() throws Exception { // IK-4
        try (RunningRelay relay = relay("--auto-backfill", "off", "--batch-size", "1")) {
            signIn(relay);
            browser.open(DETAIL);
            browser.click("[data-action=start]");
            browser.find("dialog[open]");
            Client other = new Client(api(relay), TOKEN);
            assertThat(other.post("/" + ID + "/start", "other-1").status()).isEqualTo(200);
            assertThat(other.post("/" + ID + "/pause", "other-2").status()).isEqualTo(200);
            browser.click("[data-key=confirm]");
            browser.untilText("Start: refused. It is paused.");
            awaitState("paused");
        }
    }

    @Test
    void hostile_text_from_the_database_and_the_address_is_shown_as_text() throws Exception { // AU-5
        try (RunningRelay relay = relay("--auto-backfill", "off", "--batch-size", "1")) {
            signIn(relay);
            String hostile = "<img src=x onerror=\"document.title='owned'\"> شغّل \u202e" + "w".repeat(400);
            database.update("UPDATE backfill_definition SET description = ? WHERE id = ?", hostile, ID);
            browser.open(DETAIL);
            browser.untilText("onerror=");
            browser.click("[data-action=start]");
            browser.driver()
                    .executeScript(
                            "document.getElementById('note').value = arguments[0]", "<script>" + "n".repeat(10_000));
            browser.click("[data-key=confirm]");
            browser.untilText("Start: refused.");
            for (String address :
                    List.of("#/b/<script>alert(1)</script>", "#/b/%00", "#/b/" + "a".repeat(5_000), "#/b/%zz")) {
                browser.open(address);
                browser.untilText("Nothing to show.");
            }
            assertThat(browser.driver().getTitle()).isNotEqualTo("owned");
        }
    }

    @Test
    void a_missing_schema_is_named() throws Exception { // CF, SC-5
        try (RunningRelay relay = relay("--auto-migrate", "off")) {
            signIn(relay);
            browser.untilText("The library's tables are not in the database.");
        }
    }

    private RunningRelay relay(String... more) throws Exception {
        List<String> options = new ArrayList<>(List.of("--jdbc-url", database.jdbcUrl()));
        if (!List.of(more).contains("--admin-token")) {
            options.addAll(List.of("--admin-token", TOKEN));
        }
        options.addAll(List.of(more));
        return RunningRelay.start(directory, options.toArray(String[]::new));
    }

    private static URI api(RunningRelay relay) {
        return URI.create("http://localhost:" + relay.adminPort() + "/admin/backfills");
    }

    private static void signIn(RunningRelay relay) {
        relay.awaitStarted();
        browser.signIn(api(relay), TOKEN);
    }

    private static void awaitState(String state) {
        browser.find(".now[data-state=" + state + "]");
    }
}
