package dev.backfill.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.HashSet;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@PostgresTest
class FaultProxyIT {

    private final TestDatabase database;
    private FaultProxy proxy;

    FaultProxyIT(TestDatabase database) {
        this.database = database;
    }

    @BeforeEach
    void a_proxy_before_the_database() throws Exception {
        proxy = FaultProxy.before(database.jdbcUrl());
        database.execute("drop table if exists t; create table t (n int)");
    }

    @AfterEach
    void closed_again() {
        proxy.close();
    }

    @Test
    void it_forwards_both_ways() throws Exception {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                var row = statement.executeQuery("select repeat('x', 300000)")) {
            row.next();
            assertThat(row.getString(1)).hasSize(300_000);
        }
    }

    @Test
    void the_answer_to_a_commit_is_lost_after_the_server_committed() throws Exception {
        proxy.loseAnswerTo("COMMIT");
        try (Connection connection = connect()) {
            connection.setAutoCommit(false);
            insert(connection);
            assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
        }
        assertThat(rows()).isOne();
    }

    @Test
    void a_cut_ends_open_transactions_and_lets_new_connections_in() throws Exception {
        try (Connection connection = connect()) {
            connection.setAutoCommit(false);
            insert(connection);
            proxy.cut();
            assertThatThrownBy(connection::commit).isInstanceOf(SQLException.class);
        }
        try (Connection again = connect()) {
            insert(again);
        }
        assertThat(rows()).isOne();
    }

    @Test
    void no_thread_outlives_its_link() throws Exception {
        Set<Thread> before = pumps();
        try (Connection connection = connect()) {
            insert(connection);
            Set<Thread> pumps = pumps();
            pumps.removeAll(before);
            assertThat(pumps).hasSize(4);
            proxy.cut();
            for (Thread pump : pumps) {
                pump.join(30_000);
                assertThat(pump.isAlive()).as(pump.getName()).isFalse();
            }
            assertThat(connection.isValid(5)).isFalse();
        }
    }

    private static Set<Thread> pumps() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().matches("backfill-proxy-.*-(read|write)"))
                .collect(Collectors.toCollection(HashSet::new));
    }

    @Test
    void a_link_that_is_down_refuses_until_it_is_healed() throws Exception {
        proxy.down();
        assertThatThrownBy(this::connect).isInstanceOf(SQLException.class);
        proxy.heal();
        try (Connection connection = connect()) {
            assertThat(connection.isValid(5)).isTrue();
        }
    }

    @Test
    void a_stalled_link_goes_on_where_it_stopped() throws Exception {
        try (Connection connection = connect()) {
            proxy.stall();
            CompletableFuture<Void> inserting = CompletableFuture.runAsync(() -> {
                try {
                    insert(connection);
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            assertThat(rows()).isZero();
            proxy.heal();
            inserting.get(10, TimeUnit.SECONDS);
        }
        assertThat(rows()).isOne();
    }

    @Test
    void a_delay_is_added_to_each_way() throws Exception {
        try (Connection connection = connect()) {
            proxy.delayEachWay(Duration.ofMillis(60));
            long began = System.nanoTime();
            insert(connection);
            assertThat(Duration.ofNanos(System.nanoTime() - began)).isGreaterThanOrEqualTo(Duration.ofMillis(120));
        }
    }

    private Connection connect() throws SQLException {
        return DriverManager.getConnection(proxy.jdbcUrl());
    }

    private static void insert(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("insert into t values (1)");
        }
    }

    private long rows() {
        return database.queryLong("select count(*) from t");
    }
}
