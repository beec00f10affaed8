package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.host.EngineOptions;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.batch.FenceSql;
import dev.backfill.postgres.internal.batch.FenceSql.Work;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.KeySql;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The fence alone, for guards that no batch of the engine can come to by itself: order, isolation, duration, transaction, lock wait. */
@PostgresTest
class FenceItselfIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final TestDatabase db;
    private BackfillHarness harness;

    FenceItselfIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void four_of_ten_rows_are_repaired_and_the_claim_is_held() {
        Counters.fresh(db, 10);
        harness = BackfillHarness.on(db, Counters.custom(4));
        harness.start(Counters.ID);
        assertThat(harness.worker("a").step()).isInstanceOf(StepOutcome.Committed.class);
    }

    @AfterEach
    void close() {
        harness.close();
    }

    private Claim claim() {
        Map<String, String> row = harness.row(Counters.ID);
        return new Claim(
                Counters.ID,
                Integer.parseInt(row.get("no")),
                BackfillState.RUNNING,
                Long.parseLong(row.get("generation")),
                UUID.fromString(row.get("claim_token")),
                String.valueOf(row.get("claim_owner")),
                List.of("10"),
                null,
                List.of("4"),
                0,
                0,
                false,
                null);
    }

    private static FenceSql fence(boolean fused, Duration longest) {
        EngineOptions.Builder options = EngineOptions.builder()
                .transactionTimeout(longest)
                .statementTimeout(longest)
                .fusedCommit(fused);
        if (longest.toMillis() < 250) {
            options.lockTimeout(longest);
        }
        return new FenceSql(
                new Names("public"),
                new KeySql(Counters.custom(4).table(), Counters.custom(4).key()),
                options.workerSocketTimeout(PATIENCE).build(),
                true,
                false);
    }

    /** A transaction that has changed rows 5 to 8 and comes to the fence. */
    private final class Batch implements AutoCloseable {

        private final Session session;
        private String xid;

        Batch(String isolation) throws SQLException {
            session = new Sessions(db, true).open(PATIENCE);
            execute("set transaction isolation level " + isolation);
            xid = text("select pg_current_xact_id()::text");
            execute("update counters set hits = hits + 1 where id between 5 and 8");
        }

        void execute(String sql) throws SQLException {
            try (Statement statement = session.connection().createStatement()) {
                statement.execute(sql);
            }
        }

        String text(String sql) throws SQLException {
            try (Statement statement = session.connection().createStatement();
                    ResultSet row = statement.executeQuery(sql)) {
                row.next();
                return row.getString(1);
            }
        }

        Optional<BackfillState> commit(FenceSql fence, String checkpoint) throws SQLException {
            return fence.commit(session, claim(), xid, new Work(List.of(checkpoint), 4, 4));
        }

        @Override
        public void close() {
            session.close();
        }
    }

    private void assertNothingHappened() {
        assertThat(Counters.hits(db)).isEqualTo("1111000000");
        assertThat(harness.row(Counters.ID)).containsEntry("checkpoint", "{4}").containsEntry("batches", "1");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void what_satisfies_every_guard_commits(boolean fused) throws SQLException { // AT-1
        try (Batch batch = new Batch("read committed")) {
            assertThat(batch.commit(fence(fused, PATIENCE.dividedBy(6)), "8")).contains(BackfillState.RUNNING);
        }
        assertThat(Counters.hits(db)).isEqualTo("1111111100");
        assertThat(harness.row(Counters.ID)).containsEntry("checkpoint", "{8}").containsEntry("batches", "2");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void the_bound_itself_commits_and_enters_validating(boolean fused) throws SQLException { // VA-1
        try (Batch batch = new Batch("read committed")) {
            assertThat(batch.commit(fence(fused, PATIENCE.dividedBy(6)), "10")).contains(BackfillState.VALIDATING);
        }
        assertThat(harness.row(Counters.ID)).containsEntry("checkpoint", "{10}").containsEntry("state", "validating");
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_checkpoint_that_does_not_rise_is_refused(boolean fused) throws SQLException { // SR-3
        for (String notAfter : List.of("4", "3")) {
            try (Batch batch = new Batch("read committed")) {
                assertThat(batch.commit(fence(fused, PATIENCE.dividedBy(6)), notAfter))
                        .isEmpty();
            }
            assertNothingHappened();
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_checkpoint_past_the_bound_is_refused(boolean fused) throws SQLException { // SR-3
        try (Batch batch = new Batch("read committed")) {
            assertThat(batch.commit(fence(fused, PATIENCE.dividedBy(6)), "11")).isEmpty();
        }
        assertNothingHappened();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_snapshot_of_the_whole_transaction_is_refused(boolean fused) throws SQLException { // CL-2
        // Under REPEATABLE READ the row is seen as it was when the batch began.
        try (Batch batch = new Batch("repeatable read")) {
            assertThat(batch.commit(fence(fused, PATIENCE.dividedBy(6)), "8")).isEmpty();
        }
        assertNothingHappened();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_transaction_other_than_the_one_that_began_is_refused(boolean fused) throws SQLException { // AT-2
        try (Batch batch = new Batch("read committed")) {
            batch.xid = String.valueOf(Long.parseLong(batch.xid) + 1);
            assertThat(batch.commit(fence(fused, PATIENCE.dividedBy(6)), "8")).isEmpty();
        }
        assertNothingHappened();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_transaction_that_outlived_its_limit_is_refused(boolean fused) throws Exception { // BB-2
        Duration limit = Duration.ofMillis(200);
        try (Batch batch = new Batch("read committed")) {
            Eventually.until(
                    "the transaction is older than its limit",
                    () -> batch.text("select clock_timestamp() - now() > interval '200 ms'")
                            .equals("t"));
            assertThat(batch.commit(fence(fused, limit), "8")).isEmpty();
        }
        assertNothingHappened();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_lease_that_ends_while_the_fence_waits_for_the_row_is_seen_after_the_wait(boolean fused)
            throws Exception { // CL-2
        Duration lease = Duration.ofMillis(800);
        while (!leaseEndsDuringTheWait(fused, lease)) {
            // The machine was so busy that the lease ended before the wait began, which proves nothing.
            lease = lease.multipliedBy(3);
        }
        assertNothingHappened();
    }

    /** Whether the fence waited before the lease ended. */
    private boolean leaseEndsDuringTheWait(boolean fused, Duration lease) throws Exception {
        FenceSql fence = fence(fused, PATIENCE.dividedBy(6));
        try (Batch batch = new Batch("read committed");
                Connection other = db.get()) {
            // Committed before the other's lock: a row that changes during the wait would be judged anew by itself.
            db.update(
                    "update backfill set claim_expires_at = clock_timestamp() + ? * interval '1 ms'", lease.toMillis());
            other.setAutoCommit(false);
            try (Statement lock = other.createStatement()) {
                lock.execute("select 1 from backfill for update");
            }
            String pid = batch.text("select pg_backend_pid()");
            CompletableFuture<Optional<BackfillState>> committing = CompletableFuture.supplyAsync(() -> {
                try {
                    return batch.commit(fence, "8");
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            Eventually.until(
                    "the fence waits for the row",
                    () -> db.queryBoolean(
                            "select wait_event_type = 'Lock' from pg_stat_activity where pid = ?::int", pid));
            boolean inTime = db.queryBoolean("select claim_expires_at > clock_timestamp() from backfill");
            Eventually.until(
                    "the lease is over",
                    () -> db.queryBoolean("select claim_expires_at < clock_timestamp() from backfill"));
            other.rollback();
            assertThat(committing.get(60, TimeUnit.SECONDS)).isEmpty();
            return inTime;
        }
    }
}
