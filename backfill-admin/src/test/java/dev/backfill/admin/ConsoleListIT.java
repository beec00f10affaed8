package dev.backfill.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.backfill.operate.BackfillState;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.openqa.selenium.By;

/** The list of nothing, of a few, of 500 and of 5,000 backfills, in a real browser. */
class ConsoleListIT {

    private static final Path PICTURES = Path.of("target", "console");

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
    }

    @AfterEach
    void stop() {
        host.close();
    }

    @Test
    void an_empty_database_says_so() {
        browser.signIn(host.api(), TestHost.ANA);
        browser.untilText("No backfill is registered in this database.");
    }

    @Test
    void five_hundred_and_five_thousand_are_one_page_that_can_be_read() throws IOException {
        for (int size : new int[] {500, 5_000}) {
            many(size);
            browser.signIn(host.api(), TestHost.ANA);
            browser.find(".card");
            assertThat(browser.text()).contains(String.format("%,d all", size)).doesNotContain("done.000");
            for (int width : new int[] {1200, 360}) {
                browser.size(width, 900);
                assertThat(browser.overflow()).as(size + " at " + width).isZero();
                assertThat(height()).as("pixels of " + size + " at " + width).isLessThan(9_000);
                assertThat(browser.accessibilityViolations()).isEmpty();
                browser.viewport(PICTURES.resolve("list-of-" + size + "-" + width + ".png"));
            }
            browser.size(1200, 900);
        }
    }

    @Test
    void groups_open_and_close_and_the_address_remembers_it() {
        many(500);
        browser.signIn(host.api(), TestHost.ANA);
        browser.find("[data-group=attention] .card");
        assertThat(browser.shows("[data-group=done] .card")).isFalse();
        browser.click("[data-key=group-done]");
        browser.find("[data-group=done] .card");
        browser.click("[data-key=group-attention]");
        browser.until("a closed group", () -> !browser.shows("[data-group=attention] .card"));
        assertThat(address()).endsWith("#/?open=done&closed=attention");
        browser.driver().navigate().refresh();
        browser.enter(TestHost.ANA);
        browser.find("[data-group=done] .card");
        assertThat(browser.shows("[data-group=attention] .card")).isFalse();
        assertThat(browser.driver().findElements(By.cssSelector("[data-group=done] .card")))
                .hasSize(25);
        browser.click("[data-key=more-done]");
        browser.until(
                "a second page",
                () -> browser.driver()
                                .findElements(By.cssSelector("[data-group=done] .card"))
                                .size()
                        == 50);
    }

    @Test
    void filters_by_state_label_and_text_stand_in_the_address() {
        many(500);
        host.operations.put(Rows.pending("only.this").labelled(Map.of("team", "search")));
        browser.signIn(host.api(), TestHost.ANA);
        browser.click("[data-key=count-failed]");
        browser.until("only failed ones", () -> cards().stream().allMatch(id -> id.startsWith("fail")));
        assertThat(address()).endsWith("#/?state=failed");
        browser.click("[data-key=count-failed]");
        browser.find("#filter").sendKeys("ONLY");
        browser.until("only that one", () -> cards().equals(List.of("only.this")));
        assertThat(address()).endsWith("#/?q=ONLY");
        assertThat(browser.driver().switchTo().activeElement().getDomAttribute("id"))
                .isEqualTo("filter");
        browser.find("#filter").clear();
        browser.open("#/?label=team%3Asearch");
        browser.until("only that one", () -> cards().equals(List.of("only.this")));
        browser.open("#/?q=nowhere");
        browser.untilText("No backfill matches the filter.");
        browser.click("[data-key=clear]");
        browser.until("all of them", () -> browser.text().contains("501 all"));
    }

    @Test
    void a_family_is_one_line_that_leads_to_its_parts() {
        host.operations.put(Rows.running("f.p1").partOf("f").progress(50, 100L));
        host.operations.put(Rows.running("f.p2").partOf("f").progress(0, 100L));
        browser.signIn(host.api(), TestHost.ANA);
        browser.until("one line", () -> cards().equals(List.of("f")));
        browser.untilText("25 %");
        browser.click("[data-key=f]");
        browser.untilText("50 of 200 rows");
        browser.until("its parts", () -> cards().equals(List.of("f.p1", "f.p2")));
        browser.click("[data-key='f.p1']");
        browser.untilText("50 of 100 rows");
    }

    private static List<String> cards() {
        return browser.driver().findElements(By.cssSelector(".card")).stream()
                .map(card -> card.getDomAttribute("data-id"))
                .toList();
    }

    private static String address() {
        return String.valueOf(browser.driver().executeScript("return location.href"));
    }

    private static long height() {
        return (Long) browser.driver().executeScript("return document.documentElement.scrollHeight");
    }

    /** Mostly completed, as any database is after a year. */
    private void many(int size) {
        for (int i = 0; i < size; i++) {
            String id = String.format(".%04d.v1", i);
            host.operations.put(
                    switch (i % 50) {
                        case 0 ->
                            Rows.running("fail" + id)
                                    .diagnostic(
                                            BackfillState.FAILED,
                                            "validation-rejected",
                                            "412 rows are not repaired.",
                                            null);
                        case 1 -> Rows.running("run" + id);
                        case 2 -> Rows.pending("wait" + id);
                        default -> Rows.running("done" + id).progress(9, 9L).state(BackfillState.COMPLETED);
                    });
        }
    }
}
