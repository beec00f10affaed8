package dev.backfill.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** How the console looks: light and dark, wide and narrow, with every state and with hostile text. */
class ConsoleLookIT {

    private static final Path PICTURES = Path.of("target", "console");

    private static TestHost host;
    private static Browser browser;

    @BeforeAll
    static void start() throws Exception {
        assumeTrue(Browser.isInstalled(), "chromium and chromedriver are not installed");
        host = new TestHost();
        new Scene(host.operations);
        browser = new Browser();
        browser.signIn(host.api(), TestHost.ANA);
        browser.find(".card");
    }

    @AfterAll
    static void stop() {
        if (browser != null) {
            browser.close();
        }
        if (host != null) {
            host.close();
        }
    }

    @Test
    void the_console_reads_well_in_light_dark_and_on_a_phone() throws IOException {
        for (String scheme : List.of("light", "dark")) {
            browser.colours(scheme);
            look("#/", "list", scheme);
            look("#/b/events.thread-root.v1", "running", scheme);
            look("#/b/channels.member-count.v1", "blocked", scheme);
            look("#/b/events.reply-depth.v1", "failed", scheme);
            look("#/audit", "audit", scheme);
        }
    }

    @Test
    void what_lies_over_the_page_reads_well_too() throws IOException {
        for (String scheme : List.of("light", "dark")) {
            browser.colours(scheme);
            browser.open("#/b/events.thread-root.v1");
            browser.click("[data-action=pause]");
            browser.find("dialog[open]");
            judge("dialog", scheme);
            browser.click("[data-key=cancel]");
            host.operations.failWith(new BackfillUnavailableException(Reason.UNAVAILABLE, "No connection.", null));
            browser.untilText("Not current:");
            judge("stale", scheme);
            host.operations.failWith(null);
            browser.until(
                    "current data",
                    () -> browser.find("body").getDomAttribute("data-current").equals("yes"));
            browser.confirm("validate");
            browser.untilText("Validation: success.");
            judge("answer", scheme);
            browser.click("[data-key=sign-out]");
            browser.find("#token");
            judge("sign-in", scheme);
            browser.enter(TestHost.ANA);
            browser.find("[data-key=sign-out]");
        }
    }

    private static void judge(String name, String scheme) throws IOException {
        assertThat(browser.accessibilityViolations()).as(name + " " + scheme).isEmpty();
        browser.viewport(PICTURES.resolve(name + "-" + scheme + ".png"));
    }

    private static void look(String fragment, String name, String scheme) throws IOException {
        browser.open(fragment);
        if (fragment.equals("#/")) {
            browser.find(".card");
        } else {
            browser.find(".timeline li");
        }
        if (name.equals("running")) {
            for (long rows = 85_000; !browser.shows(".chart svg"); rows += 700) {
                host.operations.put(Rows.running("events.thread-root.v1")
                        .progress(rows, 200_000L)
                        .required());
                long seen = rows;
                browser.until("progress", () -> browser.text().replace(",", "").contains(" " + seen + " of"));
            }
        }
        for (int width : new int[] {1200, 360}) {
            browser.size(width, 900);
            assertThat(browser.overflow()).as(name + " at " + width).isZero();
            assertThat(browser.accessibilityViolations())
                    .as(name + " " + scheme)
                    .isEmpty();
            browser.screenshot(PICTURES.resolve(name + "-" + scheme + "-" + width + ".png"));
        }
        browser.size(1200, 900);
    }
}
