package dev.backfill.postgres.startup;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.host.Backfills;
import dev.backfill.host.Readiness;
import dev.backfill.host.SchemaMode;
import dev.backfill.postgres.schema.OwnServer;
import dev.backfill.spi.ConnectionSource;
import dev.backfill.testkit.Eventually;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.Statement;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A real server that is stopped under a running engine and started again. */
class ServerRestartIT {

    @TempDir
    Path directory;

    @Test
    void workers_and_readiness_recover_from_a_restart_of_the_server_without_help() throws Exception { // CF-2, RB-3
        Assumptions.assumeTrue(System.getenv("BACKFILL_TEST_JDBC_URL") == null);
        try (OwnServer server = OwnServer.in(directory)) {
            String url = server.url();
            ConnectionSource source = () -> DriverManager.getConnection(url);
            ask(source, "create table items (id bigint primary key, n int not null, doubled int)");
            ask(source, "insert into items (id, n) select g, g from generate_series(1, 60) as g");
            int port = server.stop();
            try (Backfills engine = Host.start(
                    source,
                    SchemaMode.MIGRATE,
                    b -> b.requiredAtStartup(Host.ID.value())
                            .options(Host.shortLease().batchSizeCap(1).build()))) {
                Host.awaitDatabase(engine, Readiness.Status.UNKNOWN);
                server.startAgain(port);
                Eventually.until("it works", () -> "t".equals(ask(source, "select batches > 2 from backfill")));
                server.stop();
                Host.awaitDatabase(engine, Readiness.Status.UNKNOWN);
                assertThat(engine.readiness().isOpen()).isFalse();
                server.startAgain(port);
                Host.awaitOpen(engine);
            }
            assertThat(ask(source, "select count(*) from items where doubled = n * 2"))
                    .isEqualTo("60");
            assertThat(ask(source, "select rows_scanned from backfill")).isEqualTo("60");
        }
    }

    private static String ask(ConnectionSource source, String sql) throws Exception {
        try (Connection connection = source.get();
                Statement statement = connection.createStatement()) {
            if (!statement.execute(sql)) {
                return "";
            }
            try (ResultSet row = statement.getResultSet()) {
                return row.next() ? row.getString(1) : "";
            }
        }
    }
}
