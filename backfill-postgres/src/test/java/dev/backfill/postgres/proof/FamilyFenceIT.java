package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillId;
import dev.backfill.Family;
import dev.backfill.Repair;
import dev.backfill.host.EngineOptions;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.batch.FenceSql;
import dev.backfill.postgres.internal.batch.FenceSql.Work;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sessions;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.KeySql;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Gate;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The fence of a part of a family: its range can't move under a batch, and its first window begins after the range's beginning. */
@PostgresTest
class FamilyFenceIT {

    private static final Duration PATIENCE = Duration.ofSeconds(60);

    private final TestDatabase db;

    FamilyFenceIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void twelve_rows() {
        db.clear();
        Counters.fresh(db, 12);
    }

    /** Rows 1 to 4, 5 to 8 and 9 to 12. */
    private BackfillHarness open(boolean fused, Repair.Custom<Long> first) {
        return BackfillHarness.over(db)
                .definitions(Counters.custom(3, first).inRanges(3))
                .options(o -> o.fusedCommit(fused))
                .open();
    }

    private static BackfillId part(int index) {
        return Family.partId(Counters.ID, index);
    }

    /** The outcome of a batch of the middle part that began at a key, under which its range's lower end was changed. */
    private StepOutcome underATamperedRange(boolean fused, long heldAt, String tampered) throws Exception {
        Gate gate = new Gate();
        AtomicBoolean first = new AtomicBoolean(true);
        Repair.Custom<Long> holding = (batch, tx) -> {
            if (batch.keys().get(0) == heldAt && first.getAndSet(false)) {
                gate.hold();
            }
            return 0;
        };
        try (BackfillHarness harness = open(fused, holding)) {
            harness.start(part(1));
            HarnessWorker worker = harness.worker("a");
            if (heldAt > 5) {
                assertThat(worker.step()).isInstanceOf(StepOutcome.Committed.class);
            }
            String before = Counters.hits(db);
            Future<StepOutcome> held = worker.stepAside();
            gate.awaitArrival();
            harness.tamper(part(1), "range_low", tampered);
            gate.open();
            StepOutcome outcome = held.get(60, TimeUnit.SECONDS);
            assertThat(Counters.hits(db)).isEqualTo(before);
            return outcome;
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_range_that_began_elsewhere_under_its_first_batch_rejects_it(boolean fused) throws Exception { // CL-2, SR-1
        // Still below the window, so that only the comparison with what the batch began from can see it.
        assertThat(underATamperedRange(fused, 5, "{2}")).isEqualTo(new StepOutcome.Fenced(part(1), "range"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_range_that_lost_its_beginning_rejects_the_batch(boolean fused) throws Exception { // CL-2, SR-1
        assertThat(underATamperedRange(fused, 5, null)).isEqualTo(new StepOutcome.Fenced(part(1), "range"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_range_that_began_elsewhere_under_a_later_batch_rejects_it(boolean fused) throws Exception { // CL-2, SR-1
        assertThat(underATamperedRange(fused, 8, "{2}")).isEqualTo(new StepOutcome.Fenced(part(1), "range"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void a_first_window_that_does_not_pass_the_range_s_beginning_is_refused_by_the_fence(boolean fused)
            throws Exception { // SR-3
        try (BackfillHarness harness = open(fused, (batch, tx) -> 0)) {
            assertThat(harness.start(part(1))).isInstanceOf(ActionOutcome.Applied.class);
            db.execute(
                    "update backfill set claim_token = ?::uuid, claim_expires_at = now() + interval '1 hour'"
                            + " where id = '" + part(1) + "'",
                    UUID.randomUUID().toString());
            for (String notAfter : List.of("4", "3")) {
                assertThat(fence(harness.row(part(1)), fused, notAfter)).isEmpty();
            }
            assertThat(harness.row(part(1))).containsEntry("batches", "0").containsEntry("checkpoint", null);
            assertThat(fence(harness.row(part(1)), fused, "7")).contains(BackfillState.RUNNING);
        }
    }

    private Optional<BackfillState> fence(Map<String, String> row, boolean fused, String checkpoint)
            throws SQLException {
        FenceSql fence = new FenceSql(
                new Names("public"),
                new KeySql(Counters.custom(3).table(), Counters.custom(3).key()),
                EngineOptions.builder().fusedCommit(fused).build(),
                true,
                false);
        try (Session session = new Sessions(db, true).open(PATIENCE);
                Statement statement = session.connection().createStatement()) {
            String xid;
            try (ResultSet id = statement.executeQuery("select pg_current_xact_id()::text")) {
                id.next();
                xid = id.getString(1);
            }
            Claim claim = new Claim(
                    part(1),
                    Integer.parseInt(row.get("no")),
                    BackfillState.RUNNING,
                    Long.parseLong(row.get("generation")),
                    UUID.fromString(row.get("claim_token")),
                    "a",
                    List.of("8"),
                    List.of("4"),
                    null,
                    0,
                    0,
                    false,
                    null);
            return fence.commit(session, claim, xid, new Work(List.of(checkpoint), 3, 3));
        }
    }
}
