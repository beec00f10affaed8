package dev.backfill.testkit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.postgresql.PGConnection;

@PostgresTest
class FaultyConnectionsIT {

    private final TestDatabase database;
    private final FaultyConnections faults;

    FaultyConnectionsIT(TestDatabase database) {
        this.database = database;
        this.faults = FaultyConnections.over(database);
    }

    @BeforeEach
    void an_empty_table() {
        database.execute("drop table if exists t; create table t (n int)");
    }

    @Test
    void a_cut_before_commit_leaves_nothing() throws Exception {
        faults.before(FaultPoint.commit(), Fault.cut());
        assertConnectionLost(() -> insertInTransaction());
        assertThat(rows()).isZero();
    }

    @Test
    void a_cut_after_commit_looks_the_same_and_left_the_row() throws Exception {
        faults.after(FaultPoint.commit(), Fault.cut());
        assertConnectionLost(() -> insertInTransaction());
        assertThat(rows()).isOne();
    }

    @Test
    void a_commit_at_the_end_of_a_flush_counts_as_commit() throws Exception {
        faults.after(FaultPoint.commit(), Fault.cut());
        assertConnectionLost(() -> {
            try (Connection connection = faults.get();
                    Statement statement = connection.createStatement()) {
                connection.setAutoCommit(false);
                statement.execute("/* backfill:fence */ insert into t values (1); /* x */ COMMIT");
            }
        });
        assertThat(rows()).isOne();
        faults.assertAllStruck();
    }

    @Test
    void a_statement_is_met_by_its_tag_and_by_nothing_else() throws Exception {
        faults.before(FaultPoint.tagged("fence"), Fault.fail("40001"));
        try (Connection connection = faults.get();
                Statement statement = connection.createStatement()) {
            statement.execute("/* backfill:fenced */ select 1");
            statement.execute("select 'backfill:fence'");
            assertThatThrownBy(() -> statement.execute("/* backfill:fence */ select 1"))
                    .isInstanceOfSatisfying(
                            SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("40001"));
            statement.execute("/* backfill:fence */ select 1");
        }
        assertThat(faults.struck()).isOne();
    }

    @Test
    void a_prepared_statement_is_cut_after_the_server_ran_it() throws Exception {
        faults.after(FaultPoint.tagged("repair"), Fault.cut());
        assertConnectionLost(() -> {
            try (Connection connection = faults.get();
                    PreparedStatement statement =
                            connection.prepareStatement("/* backfill:repair */ insert into t values (?)")) {
                statement.setInt(1, 1);
                statement.executeUpdate();
            }
        });
        assertThat(rows()).isOne();
    }

    @Test
    void a_transaction_is_held_at_a_gate_and_goes_on() throws Exception {
        Gate gate = new Gate();
        faults.before(FaultPoint.commit(), Fault.hold(gate));
        CompletableFuture<Void> held = CompletableFuture.runAsync(() -> {
            try {
                insertInTransaction();
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
        gate.awaitArrival();
        assertThat(rows()).isZero();
        gate.open();
        held.get(10, TimeUnit.SECONDS);
        assertThat(rows()).isOne();
    }

    @Test
    void the_nth_exchange_is_met_and_a_new_connection_can_be_refused() throws Exception {
        faults.restart();
        faults.before(FaultPoint.exchange(2), Fault.fail("57P01"));
        try (Connection connection = faults.get();
                Statement statement = connection.createStatement()) {
            statement.execute("select 1");
            assertThatThrownBy(() -> statement.execute("select 2")).isInstanceOf(SQLException.class);
        }
        assertThat(faults.seen()).containsExactly("select 1", "select 2");
        faults.before(FaultPoint.connect(), Fault.fail("53300"));
        assertThatThrownBy(faults::get).isInstanceOf(SQLException.class);
        assertThat(faults.get().isWrapperFor(PGConnection.class)).isTrue();
    }

    @Test
    void a_fault_that_never_struck_fails_the_test_that_planted_it() {
        faults.before(FaultPoint.tagged("nowhere"), Fault.cut());
        assertThatThrownBy(faults::assertAllStruck)
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("backfill:nowhere");
        faults.heal();
        faults.assertAllStruck();
    }

    private void insertInTransaction() throws SQLException {
        try (Connection connection = faults.get();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("insert into t values (1)");
            connection.commit();
        }
    }

    private long rows() {
        return database.queryLong("select count(*) from t");
    }

    private static void assertConnectionLost(org.assertj.core.api.ThrowableAssert.ThrowingCallable work) {
        assertThatThrownBy(work)
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("08006"));
    }
}
