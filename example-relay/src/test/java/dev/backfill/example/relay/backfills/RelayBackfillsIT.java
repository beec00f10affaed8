package dev.backfill.example.relay.backfills;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.example.relay.database.RelaySchema;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.ValidationReport;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Each of the relay's repairs on its own messy history, judged by queries that share nothing with it. */
@PostgresTest
class RelayBackfillsIT {

    private static final int EVENTS = 5_000;

    /** What a repair promises, said in other words; and how to leave one row unrepaired. */
    enum Repairs {
        THREAD_ROOTS(
                ThreadRoots.definition(),
                "SELECT count(*) FROM events WHERE jsonb_exists(tags, 'e') AND thread_root IS DISTINCT FROM (tags -> 'e' ->> 0)::bigint",
                "UPDATE events SET thread_root = NULL WHERE id = (SELECT max(id) FROM events WHERE jsonb_exists(tags, 'e'))"),
        SEARCH_TEXT(
                SearchText.definition(),
                "SELECT count(*) FROM events WHERE search_text IS DISTINCT FROM normalize(content, NFKC)",
                "UPDATE events SET search_text = search_text || 'x' WHERE id = (SELECT min(id) FROM events WHERE content IS NOT NULL)"),
        MENTIONS(
                MentionRows.definition(),
                "SELECT abs((SELECT sum(coalesce(jsonb_array_length(tags -> 'p'), cardinality(string_to_array(tags ->> 'mentions', ','))))"
                        + " FROM events WHERE jsonb_exists_any(tags, '{p,mentions}')) - (SELECT count(*) FROM mentions))",
                "DELETE FROM mentions WHERE ctid = (SELECT max(ctid) FROM mentions)"),
        COUNTS(
                EventCounts.definition(),
                "SELECT count(*) FROM (SELECT channel_id, count(*) n, sum(id) s FROM events GROUP BY 1) e FULL JOIN channel_counters c"
                        + " USING (channel_id) WHERE (n, s) IS DISTINCT FROM (history_events, history_id_sum)",
                "UPDATE channel_counters SET history_id_sum = history_id_sum + 1 WHERE channel_id = (SELECT max(channel_id) FROM events)"),
        RETENTION(
                ChannelRetention.definition(),
                "SELECT count(*) FROM channels JOIN communities m ON m.id = community_id WHERE deleting <> (retention_days IS NULL)",
                "UPDATE channels SET retention_days = NULL WHERE id = (SELECT max(c.id) FROM channels c JOIN communities m"
                        + " ON m.id = community_id WHERE NOT deleting)");

        final BackfillDefinition<?> definition;
        final String wrongRows;
        final String unrepairOne;

        Repairs(BackfillDefinition<?> definition, String wrongRows, String unrepairOne) {
            this.definition = definition;
            this.wrongRows = wrongRows;
            this.unrepairOne = unrepairOne;
        }
    }

    private final TestDatabase database;
    private BackfillHarness harness;

    RelayBackfillsIT(TestDatabase database) {
        this.database = database;
    }

    @BeforeEach
    void aFreshHistory() throws SQLException {
        database.clear();
        new RelaySchema(database.dataSource(), EVENTS).migrate();
        harness = BackfillHarness.over(database)
                .definitions(RelayBackfills.all().toArray(BackfillDefinition<?>[]::new))
                .options(options -> options.batchSizeCap(400))
                .open();
    }

    @AfterEach
    void close() {
        harness.close();
    }

    @ParameterizedTest
    @EnumSource
    void repairs_every_row_and_completes(Repairs repairs) { // VA-3, SR-3
        assertThat(database.queryLong(repairs.wrongRows)).as("work to do").isPositive();
        harness.runToCompletion(repairs.definition.id());
        assertThat(harness.state(repairs.definition.id())).isEqualTo(BackfillState.COMPLETED);
        assertThat(database.queryLong(repairs.wrongRows)).isZero();
    }

    @ParameterizedTest
    @EnumSource
    void one_unrepaired_row_keeps_it_from_completing(Repairs repairs) { // VA-1, VA-3
        harness.start(repairs.definition.id());
        try (HarnessWorker worker = harness.worker("a")) {
            runUntilBoundReached(worker);
            assertThat(database.update(repairs.unrepairOne)).isEqualTo(1);
            assertThat(worker.step()).isInstanceOf(StepOutcome.Ended.class);
        }
        assertThat(harness.state(repairs.definition.id())).isEqualTo(BackfillState.FAILED);
    }

    @ParameterizedTest
    @EnumSource
    void one_row_that_lost_its_repair_is_found_after_completion(Repairs repairs) { // EV-3
        harness.runToCompletion(repairs.definition.id());
        assertThat(harness.validate(repairs.definition.id())).isInstanceOf(ValidationReport.Success.class);
        assertThat(database.update(repairs.unrepairOne)).isEqualTo(1);
        assertThat(harness.validate(repairs.definition.id())).isInstanceOf(ValidationReport.Failure.class);
        assertThat(harness.state(repairs.definition.id())).isEqualTo(BackfillState.COMPLETED);
    }

    @Test
    void counting_goes_on_after_a_worker_that_vanished_and_counts_nothing_twice() { // AT-3, CL-5
        harness.start(Repairs.COUNTS.definition.id());
        HarnessWorker doomed = harness.worker("doomed");
        assertThat(doomed.step()).isInstanceOf(StepOutcome.Committed.class);
        assertThat(doomed.step()).isInstanceOf(StepOutcome.Committed.class);
        doomed.vanish();
        harness.expireLease(Repairs.COUNTS.definition.id());
        harness.runToCompletion(Repairs.COUNTS.definition.id());
        assertThat(database.queryLong(Repairs.COUNTS.wrongRows)).isZero();
        assertThat(database.queryLong("SELECT sum(history_events) FROM channel_counters"))
                .isEqualTo(EVENTS);
    }

    @Test
    void events_written_while_counting_are_left_to_the_write_path() { // SR-5
        harness.start(Repairs.COUNTS.definition.id());
        database.execute("INSERT INTO events (uid, community_id, channel_id, kind, author, created_at)"
                + " SELECT gen_random_uuid(), community_id, id, 1, gen_random_uuid(), now() FROM channels LIMIT 10");
        harness.runToCompletion(Repairs.COUNTS.definition.id());
        assertThat(database.queryLong("SELECT sum(history_events) FROM channel_counters"))
                .isEqualTo(EVENTS);
    }

    @Test
    void a_community_under_deletion_is_waited_for_and_then_skipped() throws SQLException { // RB-3
        harness.start(Repairs.RETENTION.definition.id());
        try (HarnessWorker worker = harness.worker("a");
                Connection deletion = database.get();
                Statement statement = deletion.createStatement()) {
            assertThat(worker.step()).as("past the start barrier").isInstanceOf(StepOutcome.Committed.class);
            deletion.setAutoCommit(false);
            String last = database.queryText("SELECT max(id::text) FROM communities WHERE NOT deleting");
            statement.execute("UPDATE communities SET deleting = true WHERE id = '" + last + "'");
            runUntilItMustWait(worker);
            deletion.commit();
            harness.clearRetryDelay(Repairs.RETENTION.definition.id());
            runUntilBoundReached(worker);
            assertThat(database.queryLong(
                            "SELECT count(retention_days) FROM channels WHERE community_id = '" + last + "'"))
                    .isZero();
        }
    }

    private static void runUntilBoundReached(HarnessWorker worker) {
        for (int step = 0; step < 200; step++) {
            if (worker.step() instanceof StepOutcome.Committed batch && batch.boundReached()) {
                return;
            }
        }
        throw new AssertionError("200 steps did not reach the bound");
    }

    private static void runUntilItMustWait(HarnessWorker worker) {
        for (int step = 0; step < 200; step++) {
            if (worker.step() instanceof StepOutcome.Retrying) {
                return;
            }
        }
        throw new AssertionError("200 steps never met the lock of the deletion");
    }
}
