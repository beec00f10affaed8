package dev.backfill.postgres.schema;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.host.Backfills;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.postgres.ReplicaGate;
import dev.backfill.postgres.ReplicaGate.Replayed;
import dev.backfill.postgres.startup.Host;
import dev.backfill.testkit.Eventually;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The replica gate on a real physical standby. Needs the embedded server's binaries: a given server can't be copied. */
class ReplicaGateIT {

    @TempDir
    Path directory;

    @Test
    void a_standby_opens_when_it_has_replayed_the_completion_and_not_before() throws Exception { // SC-6
        Assumptions.assumeTrue(System.getenv("BACKFILL_TEST_JDBC_URL") == null);
        try (OwnServer primary = OwnServer.in(directory);
                Connection db = primary.connection();
                Statement onPrimary = db.createStatement()) {
            onPrimary.execute("create table items (id bigint primary key, n int not null, doubled int)");
            onPrimary.execute("insert into items (id, n) select g, g from generate_series(1, 50) as g");
            try (OwnServer standby = primary.standby(directory);
                    Connection replica = standby.connection();
                    Statement onStandby = replica.createStatement()) {
                assertThat(flag(onStandby, "select pg_is_in_recovery()")).isTrue();
                assertThat(ReplicaGate.hasReplayed(replica, Host.ID.value()))
                        .as("not even the tables are there")
                        .isFalse();
                followsUntilCompleted(primary, onPrimary, replica, onStandby);
            }
        }
    }

    private static void followsUntilCompleted(
            OwnServer primary, Statement onPrimary, Connection replica, Statement onStandby) throws SQLException {
        try (Backfills engine = Host.start(primary::connection, SchemaMode.MIGRATE, b -> {})) {
            Host.awaitStarted(engine);
            Eventually.until(
                    "the standby has the row",
                    () -> flag(onStandby, "select to_regclass('backfill') is not null")
                            && flag(onStandby, "select count(*) = 1 from backfill"));
            assertThat(ReplicaGate.hasReplayed(replica, Host.ID.value())).isFalse();
            onStandby.execute("select pg_wal_replay_pause()");
            Eventually.until(
                    "replay is paused", () -> flag(onStandby, "select pg_get_wal_replay_pause_state() = 'paused'"));
            engine.operations().start(new OperatorRequest(Host.ID, "go", Host.OPERATOR, null));
            Eventually.until(
                    "the primary has completed it", () -> flag(onPrimary, "select state = 'completed' from backfill"));
            String lsn = engine.operations().show(Host.OPERATOR, Host.ID).completedLsn();
            assertThat(lsn).isNotNull();
            // The standby has received it all, and shows nothing of it.
            Eventually.until(
                    "the WAL is there",
                    () -> flag(onStandby, "select pg_last_wal_receive_lsn() > '" + lsn + "'::pg_lsn"));
            assertThat(ReplicaGate.hasReplayed(replica, Host.ID.value())).isFalse();
            String position = ReplicaGate.positionOf(null, onPrimary.getConnection(), Host.ID.value())
                    .orElseThrow();
            assertThat(position).endsWith("/1/" + lsn);
            assertThat(ReplicaGate.hasReplayedUpTo(replica, position)).isEqualTo(Replayed.NO);
            assertThat(ReplicaGate.hasReplayedUpTo(onPrimary.getConnection(), position))
                    .isEqualTo(Replayed.YES);
            otherHistories(replica, onPrimary, position);
            onStandby.execute("select pg_wal_replay_resume()");
            Eventually.until("the gate opens", () -> ReplicaGate.hasReplayed(replica, Host.ID.value()));
            assertThat(ReplicaGate.hasReplayedUpTo(replica, position)).isEqualTo(Replayed.YES);
            assertThat(flag(onStandby, "select count(*) = 50 from items where doubled = n * 2"))
                    .isTrue();
            assertThat(ReplicaGate.hasReplayed(replica, "items.other.v1")).isFalse();
        }
        onStandby.getConnection().close();
        assertThatThrownBy(() -> ReplicaGate.hasReplayed(replica, Host.ID.value()))
                .isInstanceOf(SQLException.class);
    }

    /** However far it has come: of a position of another server or timeline it can't tell. */
    private static void otherHistories(Connection replica, Statement onPrimary, String position) throws SQLException {
        String otherServer = "1" + position.substring(2).replaceFirst("/.*", "/1/0/1");
        String otherTimeline = position.replaceFirst("/1/.*", "/2/0/1");
        for (Connection server : List.of(replica, onPrimary.getConnection())) {
            assertThat(ReplicaGate.hasReplayedUpTo(server, otherServer)).isEqualTo(Replayed.CANNOT_TELL);
            assertThat(ReplicaGate.hasReplayedUpTo(server, otherTimeline)).isEqualTo(Replayed.CANNOT_TELL);
        }
        assertThatThrownBy(() -> ReplicaGate.hasReplayedUpTo(replica, "16/B374D848"))
                .isInstanceOf(IllegalArgumentException.class);
    }

    private static boolean flag(Statement statement, String sql) throws SQLException {
        try (ResultSet row = statement.executeQuery(sql)) {
            return row.next() && row.getBoolean(1);
        }
    }
}
