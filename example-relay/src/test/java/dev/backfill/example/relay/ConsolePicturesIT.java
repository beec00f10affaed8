package dev.backfill.example.relay;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import dev.backfill.admin.Browser;
import dev.backfill.admin.Client;
import dev.backfill.example.relay.backfills.ChannelRetention;
import dev.backfill.example.relay.backfills.EventCounts;
import dev.backfill.example.relay.backfills.MentionRows;
import dev.backfill.example.relay.backfills.SearchText;
import dev.backfill.example.relay.backfills.ThreadRoots;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.io.IOException;
import java.net.URI;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * The pictures of the console in the documents, taken of a real relay. {@code -Dconsole.pictures=docs/images} replaces them;
 * without it they go to {@code target/console}.
 */
@PostgresTest
class ConsolePicturesIT {

    private static final String TOKEN = "a-token-of-the-test";

    private final TestDatabase database;
    private final List<String> taken = new ArrayList<>();

    @TempDir
    Path directory;

    ConsolePicturesIT(TestDatabase database) {
        this.database = database;
    }

    @Test
    void one_of_each_kind_at_night() throws Exception {
        assumeTrue(Browser.isInstalled(), "chromium and chromedriver are not installed");
        database.clear();
        prepare();
        try (RunningRelay relay = relay("--batch-size", "2");
                Browser browser = new Browser()) {
            relay.awaitStarted();
            Client client = client(relay);
            // Slow enough on any machine that there is something running to take a picture of.
            database.execute("insert into backfill_pace (id, rows_per_second) values (?, 150)", SearchText.ID);
            start(client, SearchText.ID);
            start(client, MentionRows.ID);
            control(client, MentionRows.ID, "pause", "Replica lag is at 40 s, let it catch up first");
            Eventually.until(
                    "the required one is blocked", () -> state(ThreadRoots.ID).equals("blocked"));
            browser.size(1000, 800);
            browser.signIn(api(relay), TOKEN);
            browser.open("#/b/" + SearchText.ID);
            browser.until("15 seconds of chart", () -> browser.text().matches("(?s).*last (1[5-9]|[2-9][0-9]) s.*"));
            for (String scheme : List.of("light", "dark")) {
                browser.colours(scheme);
                take(browser, "#/b/" + SearchText.ID, ".timeline li", "running-" + scheme);
                take(browser, "#/", ".card", "list-" + scheme);
                take(browser, "#/b/" + ThreadRoots.ID, ".timeline li", "blocked-" + scheme);
            }
            browser.click("[data-action=retry]");
            browser.find("dialog[open]");
            browser.viewport(taken("console-confirm-dark.png"));
            browser.click("[data-key=cancel]");
            browser.size(360, 740);
            browser.open("#/");
            browser.find(".card");
            browser.viewport(taken("console-phone-dark.png"));
            assertThat(browser.overflow()).isZero();
        }
        assertThat(taken).containsExactlyElementsOf(ConsolePictures.ALL);
    }

    /** A database where one is completed, and where the required one will stumble over a row. */
    private void prepare() throws Exception {
        try (RunningRelay relay = relay("--auto-backfill", "off")) {
            relay.awaitStarted();
            Client client = client(relay);
            start(client, ChannelRetention.ID);
            Eventually.until(
                    "one is completed", () -> state(ChannelRetention.ID).equals("completed"));
            control(client, ChannelRetention.ID, "validate", null);
            database.update("UPDATE events SET tags = '{\"e\": [\"no number\"]}' WHERE id ="
                    + " (SELECT id FROM events WHERE tags ?? 'e' ORDER BY id LIMIT 1 OFFSET 300)");
            assertThat(state(EventCounts.ID)).isEqualTo("pending");
        }
    }

    private Path taken(String name) {
        taken.add(name);
        return ConsolePictures.file(name);
    }

    private void take(Browser browser, String address, String awaited, String name) throws IOException {
        browser.open(address);
        browser.find(awaited);
        browser.until("current data", () -> !browser.text().contains("Asking the server"));
        browser.screenshot(taken("console-" + name + ".png"));
    }

    private static void start(Client client, String id) {
        control(client, id, "start", null);
    }

    private static void control(Client client, String id, String action, String note) {
        Client.Answer answer = client.post(
                "/" + id + "/" + action,
                "night-" + action + "-" + id,
                note == null ? null : "{\"note\":\"" + note + "\"}");
        assertThat(answer.status()).as(answer.text()).isEqualTo(200);
    }

    private RunningRelay relay(String... more) throws Exception {
        String[] fixed = {
            "--jdbc-url",
            database.jdbcUrl(),
            "--admin-token",
            TOKEN,
            "--seed-rows",
            "20000",
            "--retry-base",
            "50ms",
            "--retry-cap",
            "200ms",
            "--workers",
            "2"
        };
        return RunningRelay.start(
                directory,
                java.util.stream.Stream.of(fixed, more)
                        .flatMap(java.util.Arrays::stream)
                        .toArray(String[]::new));
    }

    private static URI api(RunningRelay relay) {
        return URI.create("http://localhost:" + relay.adminPort() + "/admin/backfills");
    }

    private static Client client(RunningRelay relay) {
        return new Client(api(relay), TOKEN);
    }

    private String state(String id) {
        return String.valueOf(database.queryText("SELECT state FROM backfill WHERE id = ?", id));
    }
}
