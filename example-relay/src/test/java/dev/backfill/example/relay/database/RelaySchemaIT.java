package dev.backfill.example.relay.database;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.example.relay.backfills.EventCounts;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@PostgresTest
class RelaySchemaIT {

    private static final String FINGERPRINT = "SELECT md5(string_agg(md5(e::text), '' ORDER BY id)) FROM events e";

    private final TestDatabase database;

    RelaySchemaIT(TestDatabase database) {
        this.database = database;
    }

    @BeforeEach
    void empty() {
        database.clear();
    }

    @Test
    void an_empty_database_gets_exactly_the_events_that_were_asked_for() throws SQLException {
        migrate(1_234);
        assertThat(database.queryLong("SELECT count(*) FROM events")).isEqualTo(1_234);
        assertThat(database.queryLong("SELECT count(DISTINCT uid) FROM events")).isEqualTo(1_234);
        assertThat(database.queryLong("SELECT count(DISTINCT (created_at, id)) FROM events"))
                .isEqualTo(1_234);
    }

    @Test
    void no_events_may_be_asked_for() throws SQLException {
        migrate(0);
        assertThat(database.queryLong("SELECT count(*) FROM events")).isZero();
    }

    @Test
    void the_same_number_of_events_gives_the_same_history() throws SQLException {
        migrate(2_000);
        String first = database.queryText(FINGERPRINT);
        database.clear();
        migrate(2_000);
        assertThat(database.queryText(FINGERPRINT)).isEqualTo(first);
    }

    @Test
    void the_history_is_as_messy_as_real_ones() throws SQLException {
        migrate(20_000);
        assertThat(count("tags IS NULL")).isPositive();
        assertThat(count("deleted_at IS NOT NULL AND content IS NULL")).isPositive();
        assertThat(count("deleted_at IS NULL AND content IS NULL")).isPositive();
        assertThat(count("content <> normalize(content, NFKC)")).isPositive();
        assertThat(count("jsonb_typeof(tags #> '{e,0}') = 'number'")).isPositive();
        assertThat(count("jsonb_typeof(tags #> '{e,0}') = 'string'")).isPositive();
        assertThat(count("jsonb_exists(tags, 'mentions')")).isPositive();
        assertThat(count("jsonb_exists(tags, 'p')")).isPositive();
        assertThat(count("id NOT IN (SELECT id - 1 FROM events)")).as("gaps").isGreaterThan(1);
        assertThat(database.queryLong("SELECT max(n) FROM (SELECT count(*) n FROM events GROUP BY created_at) t"))
                .isGreaterThan(400);
        assertThat(database.queryLong(
                        "SELECT count(*) FROM (SELECT created_at < lag(created_at) OVER (ORDER BY id) back FROM events) t"
                                + " WHERE back"))
                .as("events whose clock was behind")
                .isPositive();
        assertThat(count("(tags #>> '{e,0}')::bigint >= id"))
                .as("roots that come after their reply")
                .isZero();
        assertThat(database.queryLong("SELECT count(*) FROM communities WHERE deleting"))
                .isPositive();
    }

    @Test
    void the_identity_continues_after_the_history() throws SQLException {
        migrate(500);
        long last = database.queryLong("SELECT max(id) FROM events");
        long next = database.queryLong("INSERT INTO events (uid, community_id, channel_id, kind, author, created_at)"
                + " VALUES (gen_random_uuid(), gen_random_uuid(), 1, 1, gen_random_uuid(), now()) RETURNING id");
        assertThat(next).isEqualTo(last + 1);
    }

    @Test
    void migrating_again_changes_nothing() throws SQLException {
        migrate(300);
        database.execute("DELETE FROM events WHERE id <= 100");
        String before = database.queryText(FINGERPRINT);
        migrate(300);
        assertThat(database.queryText(FINGERPRINT)).isEqualTo(before);
    }

    @Test
    void the_contract_step_waits_for_its_backfill() throws SQLException { // SC-4
        migrate(200);
        migrate(200);
        assertThat(hasEstimates()).isTrue();
        try (BackfillHarness harness = BackfillHarness.on(database, EventCounts.definition())) {
            harness.runToCompletion(EventCounts.definition().id());
        }
        migrate(200);
        assertThat(hasEstimates()).isFalse();
    }

    private boolean hasEstimates() {
        return database.queryBoolean(
                "SELECT EXISTS (SELECT FROM information_schema.columns WHERE column_name = 'estimated_events')");
    }

    @Test
    void relays_that_boot_at_once_seed_once() throws Exception {
        int relays = 6;
        CyclicBarrier together = new CyclicBarrier(relays);
        ExecutorService threads = Executors.newFixedThreadPool(relays);
        try {
            List<Future<?>> boots = new ArrayList<>();
            for (int i = 0; i < relays; i++) {
                boots.add(threads.submit(() -> {
                    together.await(30, TimeUnit.SECONDS);
                    migrate(3_000);
                    return null;
                }));
            }
            for (Future<?> boot : boots) {
                boot.get(60, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
        assertThat(database.queryLong("SELECT count(*) FROM events")).isEqualTo(3_000);
        assertThat(database.queryLong("SELECT count(*) FROM communities")).isEqualTo(50);
    }

    private void migrate(int seedRows) throws SQLException {
        new RelaySchema(database.dataSource(), seedRows).migrate();
    }

    private long count(String condition) {
        return database.queryLong("SELECT count(*) FROM events WHERE " + condition);
    }
}
