package dev.backfill.example.relay;

import dev.backfill.BackfillId;
import dev.backfill.example.relay.backfills.ThreadRoots;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import dev.backfill.testkit.conformance.HostConformance;
import java.net.URI;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** The relay keeps what a host owes. */
@PostgresTest
class RelayConformanceIT extends HostConformance {

    private static final String TOKEN = "a-token-of-the-test";

    private final TestDatabase database;
    private RunningRelay relay;

    @TempDir
    Path directory;

    RelayConformanceIT(TestDatabase database) {
        this.database = database;
    }

    @BeforeEach
    void a_relay_in_manual_mode() throws Exception {
        database.clear();
        relay = RunningRelay.start(
                directory,
                "--jdbc-url",
                database.jdbcUrl(),
                "--admin-token",
                TOKEN,
                "--auto-backfill",
                "off",
                "--batch-size",
                "1");
        relay.awaitStarted();
    }

    @AfterEach
    void ended() throws Exception {
        relay.close();
    }

    // region host
    @Override
    protected URI operatorApi() {
        return URI.create("http://localhost:" + relay.adminPort() + "/admin/backfills");
    }

    @Override
    protected URI readiness() {
        return URI.create("http://localhost:" + relay.port() + "/readyz");
    }

    @Override
    protected String operatorToken() {
        return TOKEN;
    }

    @Override
    protected BackfillId backfill() {
        return BackfillId.of(ThreadRoots.ID);
    }
    // endregion
}
