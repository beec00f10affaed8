package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.History;
import dev.backfill.postgres.proof.Guarded.Owned;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.Race;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Each predicate of claim, renewal, release, reclaim, failure record, completion and exhaustion, one at a time. */
@PostgresTest
@TestInstance(TestInstance.Lifecycle.PER_CLASS)
class RowGuardsIT {

    private static final String TOKEN = "00000000-0000-0000-0000-00000000000a";
    private static final String RUNNING_CLAIMED = "state = 'running', generation = 7, claim_token = '" + TOKEN
            + "', claim_owner = 'a', claimed_at = now(), claim_expires_at = now() + interval '1 hour', attempts = 1,"
            + " next_attempt_at = null, contract = 1, completed_at = null, checkpoint = '{10}'";

    private final TestDatabase db;
    private final Guarded guarded;
    private BackfillHarness harness;

    RowGuardsIT(TestDatabase db) {
        this.db = db;
        this.guarded = new Guarded(db);
    }

    @BeforeAll
    void start() {
        Counters.fresh(db, 10);
        harness = BackfillHarness.on(
                db,
                Counters.custom(4),
                Counters.over("counters.other.v1")
                        .repair((batch, tx) -> 0)
                        .validate(dev.backfill.Validation.noRowMatches("false"))
                        .build());
        harness.start(Counters.ID);
        harness.start(dev.backfill.BackfillId.of("counters.other.v1"));
        // The schema refuses what the statements refuse; without it, only the statements are left to refuse.
        db.execute("alter table backfill drop constraint backfill_claim_only_while_working");
        db.execute("alter table backfill drop constraint backfill_completed_iff_time");
    }

    @AfterAll
    void close() {
        harness.close();
    }

    @BeforeEach
    void a_claimed_row_whose_checkpoint_reached_the_bound() {
        set(RUNNING_CLAIMED);
    }

    private void set(String assignments) {
        db.execute("update backfill set " + assignments + " where id = 'counters.hits.v1'");
    }

    private Map<String, String> row() {
        return harness.row(Counters.ID);
    }

    private static String stateFor(Owned what) {
        return what == Owned.COMPLETE ? "validating" : "running";
    }

    /** Whether it is refused, and left the row as it was. */
    private void assertRefused(Owned what, String tampering) throws SQLException {
        set(RUNNING_CLAIMED);
        set("state = '" + stateFor(what) + "'");
        Claim claim = Guarded.claimIn(row());
        set(tampering);
        Map<String, String> before = row();
        assertThat(guarded.perform(what, claim)).as(what + " with " + tampering).isFalse();
        assertThat(row()).isEqualTo(before);
    }

    @ParameterizedTest
    @EnumSource
    void its_owner_may(Owned what) throws SQLException { // CL-1, CL-5
        set("state = '" + stateFor(what) + "'");
        assertThat(guarded.perform(what, Guarded.claimIn(row()))).isTrue();
    }

    @ParameterizedTest
    @EnumSource
    void nobody_may_under_another_generation(Owned what) throws SQLException { // CL-1, CL-2, VA-3
        assertRefused(what, "generation = 8");
        assertRefused(what, "generation = 6");
    }

    @ParameterizedTest
    @EnumSource
    void nobody_may_with_another_token(Owned what) throws SQLException { // CL-2, VA-3
        assertRefused(what, "claim_token = '00000000-0000-0000-0000-00000000000b'");
    }

    @ParameterizedTest
    @EnumSource
    void nobody_may_in_a_state_without_work(Owned what) throws SQLException { // CL-2, LC-2, VA-3
        for (String state : List.of("paused", "blocked", "failed", "completed")) {
            assertRefused(what, "state = '" + state + "'");
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_expired_owner_may_only_give_back_or_settle(Owned what) throws SQLException { // CL-4, CL-6
        if (what.needsLease()) {
            assertRefused(what, "claim_expires_at = clock_timestamp() - interval '1 ms'");
        } else {
            Claim claim = Guarded.claimIn(row());
            set("claim_expires_at = clock_timestamp() - interval '1 ms'");
            assertThat(guarded.perform(what, claim)).isTrue();
        }
    }

    @ParameterizedTest
    @EnumSource(
            mode = EnumSource.Mode.EXCLUDE,
            names = {"RELEASE", "RECLAIM"})
    void a_lease_that_ends_while_its_owner_waits_for_the_row_is_seen_after_the_wait(Owned what)
            throws Exception { // CL-2, CL-6
        Duration lease = Duration.ofMillis(400);
        while (!endsDuringTheWait(what, lease)) {
            lease = lease.multipliedBy(3);
        }
    }

    private boolean endsDuringTheWait(Owned what, Duration lease) throws Exception {
        set(RUNNING_CLAIMED);
        set("state = '" + stateFor(what) + "', claim_expires_at = clock_timestamp() + interval '" + lease.toMillis()
                + " ms'");
        Claim claim = Guarded.claimIn(row());
        Map<String, String> before = row();
        try (Connection other = db.get();
                Session session = guarded.open()) {
            other.setAutoCommit(false);
            try (Statement lock = other.createStatement()) {
                lock.execute("select 1 from backfill where id = 'counters.hits.v1' for update");
            }
            CompletableFuture<Boolean> waiting = CompletableFuture.supplyAsync(() -> {
                try {
                    boolean done = guarded.perform(what, claim, session);
                    session.commit();
                    return done;
                } catch (SQLException e) {
                    throw new IllegalStateException(e);
                }
            });
            Eventually.until(
                    "it waits for the row",
                    () -> db.queryBoolean("select exists (select 1 from pg_stat_activity"
                            + " where datname = current_database() and wait_event_type = 'Lock')"));
            boolean inTime = db.queryBoolean(
                    "select claim_expires_at > clock_timestamp() from backfill where id = 'counters.hits.v1'");
            Eventually.until(
                    "the lease is over",
                    () -> db.queryBoolean(
                            "select claim_expires_at < clock_timestamp() from backfill where id = 'counters.hits.v1'"));
            other.rollback();
            assertThat(waiting.get(60, TimeUnit.SECONDS)).isFalse();
            assertThat(row()).isEqualTo(before);
            return inTime;
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"running", "paused"})
    void only_a_validating_row_completes_under_a_claim(String state) throws SQLException { // VA-1, VA-3, LC-3
        assertRefused(Owned.COMPLETE, "state = '" + state + "'");
    }

    @Test
    void only_a_row_whose_checkpoint_reached_the_bound_completes() throws SQLException { // VA-1, VA-3
        assertRefused(Owned.COMPLETE, "checkpoint = '{9}'");
        assertRefused(Owned.COMPLETE, "checkpoint = null");
        set("state = 'validating', checkpoint = '{9}'");
        assertThat(guarded.completeUnclaimed(7)).isFalse();
    }

    @Test
    void an_explicit_validation_completes_only_the_generation_and_state_it_judged() throws SQLException { // VA-3, CL-3
        set("state = 'validating'");
        assertThat(guarded.completeUnclaimed(6)).isFalse();
        assertThat(guarded.completeUnclaimed(8)).isFalse();
        for (String state : List.of("running", "paused", "blocked", "failed", "completed")) {
            set("state = '" + state + "'");
            assertThat(guarded.completeUnclaimed(7)).as(state).isFalse();
        }
        set("state = 'validating'");
        assertThat(guarded.completeUnclaimed(7)).isTrue();
        assertThat(row())
                .containsEntry("state", "completed")
                .containsEntry("generation", "8")
                .containsEntry("claim_token", null);
    }

    @Test
    void a_verdict_of_another_history_completes_nothing() throws SQLException { // CL-3, VA-3
        // After a failover that lost it, the same generation may have come again.
        set("state = 'validating'");
        History here = guarded.history();
        assertThat(guarded.completeUnclaimed(7, new History(here.system(), here.timeline() + 1)))
                .isFalse();
        assertThat(guarded.completeUnclaimed(7, new History(here.system() + 1, here.timeline())))
                .isFalse();
        assertThat(guarded.completeUnclaimed(7, here)).isTrue();
    }

    @Test
    void a_completed_row_is_changed_by_no_statement_of_an_owner() throws SQLException { // LC-3
        Claim claim = Guarded.claimIn(row());
        set("state = 'completed', completed_at = now(), claim_token = null, claim_expires_at = null");
        Map<String, String> before = row();
        for (Owned what : Owned.values()) {
            assertThat(guarded.perform(what, claim)).as(what.name()).isFalse();
        }
        assertThat(guarded.completeUnclaimed(7)).isFalse();
        assertThat(guarded.exhaust()).isFalse();
        assertThat(guarded.acquire(Counters.ID.value())).isFalse();
        assertThat(row()).isEqualTo(before);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "state = 'paused'",
                "state = 'blocked'",
                "state = 'failed'",
                "state = 'completed'",
                "claim_token = '" + TOKEN + "', claim_expires_at = clock_timestamp() + interval '1 hour'",
                "next_attempt_at = clock_timestamp() + interval '1 hour'",
                "contract = 3",
                "attempts = 3",
            })
    void a_claim_is_refused_when(String tampering) throws SQLException { // CL-1, ID-5, LC-2, RB-2, RB-5
        set("claim_token = null, claim_expires_at = null");
        set(tampering);
        Map<String, String> before = row();
        assertThat(guarded.acquire(Counters.ID.value())).isFalse();
        assertThat(row()).isEqualTo(before);
    }

    @Test
    void a_free_or_expired_claim_is_acquired_with_a_higher_generation_a_fresh_token_and_one_attempt()
            throws SQLException { // CL-1, RB-5
        for (String open : List.of(
                "claim_token = null, claim_expires_at = null",
                "claim_expires_at = clock_timestamp() - interval '1 ms'")) {
            set(RUNNING_CLAIMED);
            set(open);
            assertThat(guarded.acquire("counters.unheard-of.v1")).isFalse();
            assertThat(guarded.acquire(Counters.ID.value())).isTrue();
            assertThat(row()).containsEntry("generation", "8").containsEntry("attempts", "2");
            assertThat(row().get("claim_token")).isNotEqualTo(TOKEN).isNotNull();
        }
    }

    @Test
    void of_many_claimers_at_once_one_wins_every_time() throws Exception { // CL-1, CT 1
        int contenders = 6;
        List<Session> sessions = new ArrayList<>();
        List<Long> generations = new ArrayList<>();
        Race.of(contenders)
                .rounds(
                        40,
                        number -> {
                            Session session = sessions.get(number);
                            boolean got = guarded.acquire(session, Counters.ID.value());
                            session.commit();
                            return got;
                        },
                        new Race.Round<Boolean>() {
                            @Override
                            public void before(int round) throws Exception {
                                set("claim_token = null, claim_expires_at = null, attempts = 0");
                                for (int i = 0; i < contenders; i++) {
                                    sessions.add(guarded.open());
                                }
                            }

                            @Override
                            public void after(int round, List<Boolean> won) {
                                sessions.forEach(Session::close);
                                sessions.clear();
                                generations.add(Long.parseLong(row().get("generation")));
                                assertThat(won).containsOnlyOnce(true);
                                assertThat(generations).last().isEqualTo(8L + round);
                            }
                        });
    }

    @Test
    void a_claim_passes_over_a_row_that_somebody_has_locked() throws Exception { // CL-1
        set("claim_token = null, claim_expires_at = null");
        try (Connection other = db.get()) {
            other.setAutoCommit(false);
            try (Statement lock = other.createStatement()) {
                lock.execute("select 1 from backfill where id = 'counters.hits.v1' for update");
            }
            db.execute("update backfill set claim_token = null, claim_expires_at = null, attempts = 0"
                    + " where id = 'counters.other.v1'");
            assertThat(guarded.acquire("counters.hits.v1", "counters.other.v1")).isTrue();
            other.rollback();
        }
        assertThat(row()).containsEntry("claim_token", null);
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "attempts = 2",
                "claim_token = '" + TOKEN + "', claim_expires_at = clock_timestamp() + interval '1 hour'",
                "state = 'paused'",
                "state = 'blocked'",
                "state = 'failed'",
                "state = 'completed'",
            })
    void a_row_is_not_exhausted_when(String tampering) throws SQLException { // RB-5, LC-2
        set("claim_expires_at = clock_timestamp() - interval '1 ms', attempts = 3");
        set(tampering);
        Map<String, String> before = row();
        assertThat(guarded.exhaust()).isFalse();
        assertThat(row()).isEqualTo(before);
    }

    @Test
    void a_row_whose_last_owner_was_lost_is_exhausted_into_failed() throws SQLException { // RB-5
        set("claim_expires_at = clock_timestamp() - interval '1 ms', attempts = 3");
        assertThat(guarded.exhaust()).isTrue();
        assertThat(row())
                .containsEntry("state", "failed")
                .containsEntry("generation", "8")
                .containsEntry("claim_token", null);
    }
}
