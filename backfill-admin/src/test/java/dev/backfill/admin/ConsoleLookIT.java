package dev.backfill.admin;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.backfill.AuditItem;
import dev.backfill.BackfillSnapshot.ValidationDisposition;
import dev.backfill.BackfillState;
import dev.backfill.Diagnostic;
import dev.backfill.Waiting;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
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
        fill();
        browser = new Browser();
        browser.signIn(host, TestHost.ANA);
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

    static void fill() {
        ScriptedOperations plane = host.operations;
        plane.put(Rows.running("events.thread-root.v1").required());
        plane.put(Rows.pending("events.search-text.v2").described("Normalizes the text that search reads"));
        plane.put(Rows.running("channels.member-count.v1")
                .described("Rebuilds the member counters of every channel")
                .diagnostic(
                        BackfillState.BLOCKED,
                        "data-error",
                        "A value does not fit the column member_count of channels, between id 88123 and 88123.",
                        "22003")
                .required());
        plane.put(Rows.running("events.mentions.v1")
                .described("Extracts mentions into their own table")
                .retryAt(Instant.now().plusSeconds(40), "contention", "A deadlock stopped the batch."));
        plane.put(Rows.running("communities.slug.v3").progress(5_000, null).state(BackfillState.PAUSED));
        plane.put(
                Rows.running("events.empty-body.v1").progress(200_000, 200_000L).state(BackfillState.VALIDATING));
        plane.put(Rows.running("events.reply-depth.v1")
                .progress(200_000, 200_000L)
                .diagnostic(BackfillState.FAILED, "validation-rejected", "412 rows are not repaired.", null)
                .validation(
                        ValidationDisposition.FAILURE,
                        "console-1",
                        new Diagnostic("validation-rejected", "412 rows are not repaired.", null, Rows.T0)));
        plane.put(Rows.running("accounts.locale.v1")
                .progress(1_204_118, 1_204_118L)
                .state(BackfillState.COMPLETED)
                .validation(ValidationDisposition.SUCCESS, "cli-7", null));
        plane.put(Rows.running("events.barrier.v1")
                .waiting(Waiting.Reason.START_BARRIER, "2 transactions older than the start, the oldest for 4 min"));
        plane.put(Rows.running("events.elsewhere.v9")
                .unknownHere()
                .waiting(Waiting.Reason.UNKNOWN_HERE, "no definition in this process"));
        plane.record(new AuditItem(
                1,
                Rows.T0.plusSeconds(60),
                "startup",
                "startup",
                "events.thread-root.v1",
                "startup-1",
                "start",
                "pending",
                "running",
                1L,
                "applied",
                null));
        plane.record(new AuditItem(
                2,
                Rows.T0.plusSeconds(90),
                "ana",
                "operator",
                "events.thread-root.v1",
                "console-3f1c",
                "pause",
                "running",
                "paused",
                2L,
                "applied",
                "Replica lag is at 40 s, let it catch up first"));
        plane.record(new AuditItem(
                3,
                Rows.T0.plusSeconds(400),
                null,
                "anonymous",
                "events.thread-root.v1",
                null,
                "start",
                null,
                null,
                null,
                "denied",
                null));
        plane.record(new AuditItem(
                4,
                Rows.T0.plusSeconds(500),
                "ben",
                "operator",
                "events.thread-root.v1",
                "cli-88",
                "resume",
                "paused",
                "running",
                3L,
                "applied",
                null));
        started(5, "channels.member-count.v1");
        started(6, "events.reply-depth.v1");
    }

    private static void started(long auditId, String id) {
        host.operations.record(new AuditItem(
                auditId,
                Rows.T0.plusSeconds(30),
                "ana",
                "operator",
                id,
                "cli-" + auditId,
                "start",
                "pending",
                "running",
                1L,
                "applied",
                null));
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
