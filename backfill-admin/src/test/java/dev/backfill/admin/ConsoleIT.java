package dev.backfill.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Preflight;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.operate.ValidationReport;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;
import org.openqa.selenium.Keys;
import org.openqa.selenium.WebElement;

/** What the console does, in a real browser, with a plane that does as it is told. */
class ConsoleIT {

    private static final String ID = "events.thread-root.v1";
    private static final String DETAIL = "#/b/" + ID;

    private static Browser browser;
    private TestHost host;

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
    void start() throws Exception {
        host = new TestHost();
        host.operations.put(Rows.running(ID));
    }

    @AfterEach
    void stop() {
        host.close();
    }

    @Test
    void nothing_is_shown_and_nothing_is_asked_before_a_token_is_given() { // AU-4
        browser.driver().get(host.api() + "/console/" + DETAIL);
        browser.find("#token");
        assertThat(browser.text()).doesNotContain(ID);
        assertThat(host.operations.denials).isEmpty();
        browser.enter("wrong-token");
        browser.untilText("The server does not accept this token.");
        browser.find("#token").sendKeys(TestHost.ANA + Keys.ENTER);
        browser.untilText(ID);
        Object kept = browser.driver()
                .executeScript(
                        "return JSON.stringify([{...localStorage}, {...sessionStorage}, document.cookie, location.href])");
        assertThat(String.valueOf(kept)).doesNotContain(TestHost.ANA);
    }

    @Test
    void only_the_actions_legal_now_are_offered_in_every_state() { // CT 12, LC
        browser.signIn(host.api(), TestHost.ANA);
        browser.open(DETAIL);
        for (BackfillState state : BackfillState.values()) {
            host.operations.put(Rows.running(ID).state(state));
            browser.find(".now[data-state='" + state.wireName() + "']");
            List<String> offered = browser.driver().findElements(By.cssSelector("[data-action]")).stream()
                    .map(button -> button.getDomAttribute("data-action"))
                    .toList();
            assertThat(offered)
                    .containsExactlyElementsOf(BackfillAction.legalFrom(state).stream()
                            .map(BackfillAction::wireName)
                            .toList());
        }
    }

    @Test
    void an_action_happens_only_after_its_consequence_was_confirmed_and_carries_the_note() { // IK-1
        browser.signIn(host.api(), TestHost.ANA);
        browser.open(DETAIL);
        browser.click("[data-action=pause]");
        browser.untilText("No further batch starts");
        browser.driver().switchTo().activeElement().sendKeys(Keys.ESCAPE);
        browser.until("the dialog to close", () -> !browser.shows("dialog[open]"));
        assertThat(host.operations.performed).isEmpty();
        browser.click("[data-action=pause]");
        browser.find("dialog[open] #note").sendKeys("disk is filling up");
        browser.click("[data-key=confirm]");
        browser.untilText("Pause: done. It is now paused.");
        browser.find("[data-action=resume]");
        assertThat(host.operations.performed).hasSize(1);
        assertThat(host.operations.performed.get(0).note()).isEqualTo("disk is filling up");
        assertThat(host.operations.performed.get(0).decidedOn()).isEqualTo(1L); // CL-3
        browser.untilText("disk is filling up");
    }

    @Test
    void everything_can_be_done_from_the_keyboard() {
        browser.signIn(host.api(), TestHost.ANA);
        browser.open(DETAIL);
        browser.find("[data-action=pause]");
        WebElement reached = browser.driver().switchTo().activeElement();
        for (int i = 0; i < 20 && !"pause".equals(reached.getDomAttribute("data-action")); i++) {
            reached.sendKeys(Keys.TAB);
            reached = browser.driver().switchTo().activeElement();
        }
        reached.sendKeys(Keys.ENTER);
        browser.find("dialog[open]");
        WebElement cancel = browser.driver().switchTo().activeElement();
        assertThat(cancel.getText()).isEqualTo("Cancel");
        cancel.sendKeys(Keys.TAB);
        browser.driver().switchTo().activeElement().sendKeys(Keys.ENTER);
        browser.untilText("Pause: done.");
    }

    @Test
    void a_lost_answer_is_recovered_by_the_same_request() { // IK-2
        browser.signIn(host.api(), TestHost.ANA);
        browser.open(DETAIL);
        browser.find("[data-action=pause]");
        host.dropAnswers(1);
        browser.confirm("pause");
        browser.untilText("Pause: done. It is now paused.");
        browser.untilText("An answer was lost on the way");
        List<String> ids = host.operations.performed.stream()
                .map(OperatorRequest::requestId)
                .toList();
        assertThat(ids).hasSizeGreaterThan(1);
        assertThat(ids.stream().distinct()).hasSize(1);
        assertThat(host.operations.row(ID).state()).isEqualTo(BackfillState.PAUSED);
    }

    @Test
    void an_unknown_outcome_outlives_a_reload_and_is_settled_with_the_same_request() { // IK-2
        browser.signIn(host.api(), TestHost.ANA);
        browser.open(DETAIL);
        browser.find("[data-action=pause]");
        host.dropAnswers(1_000);
        browser.confirm("pause");
        browser.untilText("Pause: not known whether it happened.");
        browser.signIn(host.api(), TestHost.ANA);
        browser.driver().navigate().refresh();
        browser.enter(TestHost.ANA);
        browser.untilText("Pause: not known yet whether it happened, for " + ID);
        browser.open(DETAIL);
        browser.find("[data-outcome=unknown]");
        assertThat(browser.find("[data-action=resume]").isEnabled()).isFalse();
        host.dropAnswers(0);
        browser.click("[data-key=again]");
        browser.untilText("Pause: done.");
        assertThat(host.operations.performed.stream()
                        .map(OperatorRequest::requestId)
                        .distinct())
                .hasSize(1);
        assertThat(browser.driver().executeScript("return sessionStorage.length"))
                .isEqualTo(0L);
    }

    @Test
    void a_control_that_could_not_commit_is_repeated_with_the_same_request() { // AU-3
        browser.signIn(host.api(), TestHost.ANA);
        browser.open(DETAIL);
        browser.find("[data-action=pause]");
        host.operations.answerNext(r -> {
            throw new BackfillUnavailableException(Reason.AUDIT_UNAVAILABLE, "Try again.", null);
        });
        browser.confirm("pause");
        browser.untilText("Pause: not done yet. The audit record could not be written.");
        browser.untilText("Pause: done.");
        assertThat(host.operations.performed.stream()
                        .map(OperatorRequest::requestId)
                        .distinct())
                .hasSize(1);
    }

    @Test
    void the_slower_of_two_operators_is_told_the_current_state() { // IK-4
        browser.signIn(host.api(), TestHost.ANA);
        browser.open(DETAIL);
        browser.click("[data-action=pause]");
        browser.find("dialog[open]");
        host.operations.put(Rows.running(ID).state(BackfillState.FAILED));
        browser.click("[data-key=confirm]");
        browser.untilText("Pause: refused. It is failed.");
        browser.untilText("Somebody or something was faster.");
        browser.find("[data-action=retry]");
    }

    @Test
    void a_failed_refresh_marks_the_data_as_not_current_and_disables_the_actions() { // RM-2
        browser.signIn(host.api(), TestHost.ANA);
        browser.open(DETAIL);
        browser.find("[data-action=pause]");
        host.operations.failWith(new BackfillUnavailableException(Reason.UNAVAILABLE, "No connection.", null));
        browser.untilText("Not current:");
        browser.untilText("The server can't reach PostgreSQL.");
        assertThat(browser.find("body").getDomAttribute("data-current")).isEqualTo("no");
        browser.until(
                "disabled actions", () -> !browser.find("[data-action=pause]").isEnabled());
        assertThat(browser.text()).contains(ID, "84,210 of 200,000 rows");
        host.operations.failWith(null);
        browser.until(
                "current data",
                () -> browser.find("body").getDomAttribute("data-current").equals("yes"));
        browser.until(
                "enabled actions", () -> browser.find("[data-action=pause]").isEnabled());
    }

    @Test
    void a_killed_server_leaves_data_that_says_how_old_it_is() { // RM-2
        browser.signIn(host.api(), TestHost.ANA);
        browser.find(".card");
        host.close();
        browser.untilText("The server did not answer.");
        assertThat(browser.text()).containsPattern("Not current: \\d+ s old").contains(ID);
    }

    @Test
    void an_expired_token_asks_to_sign_in_again_and_keeps_the_data_marked() {
        browser.signIn(host.api(), TestHost.ANA);
        browser.open(DETAIL);
        browser.find("[data-action=pause]");
        host.revoked = true;
        browser.untilText("Your token is not valid any more.");
        assertThat(browser.find("body").getDomAttribute("data-current")).isEqualTo("no");
        host.revoked = false;
        browser.click("[data-key=back-in]");
        browser.enter(TestHost.BEN);
        browser.untilText("At work on");
    }

    @Test
    void a_reader_is_told_that_the_token_may_only_look() { // AU-1
        browser.signIn(host.api(), TestHost.READER);
        browser.open(DETAIL);
        browser.find("[data-action=pause]");
        browser.confirm("pause");
        browser.untilText("Your token may look, but not act.");
        assertThat(host.operations.performed).isEmpty();
    }

    @Test
    void validation_outcomes_are_shown_as_typed() { // EV-1
        browser.signIn(host.api(), TestHost.ANA);
        browser.open(DETAIL);
        browser.find("[data-action=validate]");
        browser.confirm("validate");
        browser.untilText("Validation: success.");
        host.operations.reportNext(r -> new ValidationReport.Failure(
                new Diagnostic("validation-rejected", "412 rows are not repaired.", null, null),
                host.operations.row(ID),
                false));
        browser.confirm("validate");
        browser.untilText("Validation: failure.");
        browser.untilText("412 rows are not repaired.");
        host.operations.reportNext(
                r -> new ValidationReport.CurrentState(ValidationReport.Reason.START_BARRIER, host.operations.row(ID)));
        browser.confirm("validate");
        browser.untilText("Validation: no result. That means neither success nor failure.");
        assertThat(browser.find("[data-outcome]").getDomAttribute("data-outcome"))
                .isEqualTo("current-state");
    }

    @Test
    void a_validation_under_way_is_asked_for_with_the_same_request_until_it_ends() { // EV-4
        browser.signIn(host.api(), TestHost.ANA);
        browser.open(DETAIL);
        browser.find("[data-action=validate]");
        host.operations.reportNext(r ->
                new ValidationReport.CurrentState(ValidationReport.Reason.ALREADY_RUNNING, host.operations.row(ID)));
        browser.confirm("validate");
        browser.untilText("Validation is still running. No result yet.");
        browser.untilText("Validation: success.");
        assertThat(host.operations.performed.stream()
                        .map(OperatorRequest::requestId)
                        .distinct())
                .hasSize(1);
    }

    @Test
    void hostile_text_is_shown_as_text_and_breaks_nothing() { // AU-5
        String hostile =
                "<script>document.title='owned'</script><img src=x onerror=document.title='owned'> شغّل \u202e "
                        + "x".repeat(800);
        host.operations.put(
                Rows.running(ID).described(hostile).diagnostic(BackfillState.BLOCKED, "data-error", hostile, null));
        host.operations.put(Rows.pending("a".repeat(128)).described("long"));
        browser.signIn(host.api(), TestHost.ANA);
        browser.find(".card");
        for (String view :
                List.of("#/", DETAIL, "#/b/%3Cscript%3Ealert(1)%3C%2Fscript%3E", "#/b/%zz", "#/b/..%2f..%2fsecret")) {
            browser.size(360, 800);
            browser.open(view);
            browser.until(
                    "the view",
                    () -> browser.shows(".card")
                            || browser.shows(".now")
                            || browser.text().contains("Nothing to show"));
            assertThat(browser.overflow()).as(view).isLessThanOrEqualTo(0);
            assertThat(browser.driver().getTitle()).isNotEqualTo("owned");
        }
        browser.size(1200, 900);
        browser.open(DETAIL);
        browser.untilText("<script>document.title='owned'</script>");
        assertThat(browser.driver().findElements(By.cssSelector("main script, main img")))
                .isEmpty();
    }

    @Test
    void what_is_unknown_is_called_unknown() { // RM-2
        host.operations.put(Rows.running(ID).progress(5_000, null));
        browser.signIn(host.api(), TestHost.ANA);
        browser.open(DETAIL);
        browser.untilText("share unknown · 5,000 rows so far");
        assertThat(browser.shows("progress")).isFalse();
        browser.click("[data-key=preflight]");
        browser.untilText("Rows: unknown");
    }

    @Test
    void preflight_is_shown_without_changing_anything() {
        host.operations.put(Rows.pending(ID));
        host.operations.preflightIs(new Preflight(
                List.of(new Finding(Finding.Code.COLUMN_MISSING, "events.thread_root", "Add the column.")),
                List.of(new Finding(Finding.Code.TRIGGER_FIRES, "events.audit", "Fires for every repaired row.")),
                new Preflight.Estimates(200_000L, "planner statistics", 52_428_800L, "average row width")));
        browser.signIn(host.api(), TestHost.ANA);
        browser.open(DETAIL);
        browser.click("[data-key=preflight]");
        browser.untilText("A start would be refused.");
        browser.untilText("Add the column.");
        browser.untilText("52.4 MB");
        assertThat(host.operations.performed).isEmpty();
    }

    @Test
    void a_blocked_row_offers_the_select_that_finds_it_and_says_what_may_be_done() { // RM-4
        host.operations.put(Rows.running(ID)
                .diagnostic(BackfillState.BLOCKED, "data-error", "Key (id = 1132). A value does not fit.", "22003"));
        browser.signIn(host.api(), TestHost.ANA);
        browser.open(DETAIL);
        browser.untilText("SELECT * FROM events WHERE id = 1132;");
        browser.find("[data-verdict=may_contract-no]");
        host.operations.put(Rows.running(ID).progress(9, 9L).state(BackfillState.COMPLETED));
        browser.find("[data-verdict=may_contract-yes]");
    }

    @Test
    void a_rehearsal_and_a_pace_are_asked_for_and_answered_in_place() {
        browser.signIn(host.api(), TestHost.ANA);
        browser.open(DETAIL);
        browser.click("[data-key=rehearse]");
        browser.untilText("7 of 1,000 rows would change, in 12 ms, WAL 4.1 kB");
        browser.click("[data-key=pace]");
        browser.find("#pace-rows_per_second").sendKeys("200");
        browser.click("[data-key=pace-set]");
        browser.untilText("In force from the next batch on.");
        assertThat(host.operations.paced().rowsPerSecond()).isEqualTo(200L);
        browser.click("[data-key=pace-reset]");
        browser.untilText("The definition's own pace.");
        assertThat(host.operations.paced()).isNull();
    }
}
