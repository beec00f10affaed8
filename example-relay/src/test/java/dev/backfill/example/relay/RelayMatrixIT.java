package dev.backfill.example.relay;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backfill.example.relay.backfills.RelayBackfills;
import dev.backfill.example.relay.backfills.ThreadRoots;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The four cells of the two switches, through real processes (CF, CT-13). */
@PostgresTest
class RelayMatrixIT {

    private static final String STATE = "SELECT state FROM backfill WHERE id = '" + ThreadRoots.ID + "'";

    private final TestDatabase database;

    @TempDir
    Path directory;

    RelayMatrixIT(TestDatabase database) {
        this.database = database;
    }

    @BeforeEach
    void empty() {
        database.clear();
    }

    @ParameterizedTest
    @ValueSource(strings = {"on", "off"})
    void without_migration_an_empty_database_stays_empty_and_the_schema_is_named(String autoBackfill)
            throws Exception { // CF
        try (RunningRelay relay = relay("off", autoBackfill)) {
            relay.awaitNotReadyBecauseOf("schema");
            relay.assertAlive();
            assertThat(database.queryLong("SELECT count(*) FROM pg_class WHERE relnamespace = 'public'::regnamespace"))
                    .isZero();
        }
    }

    @Test
    void migrate_on_automatic_on_completes_the_required_backfill_and_then_is_ready() throws Exception { // CF-1
        try (RunningRelay relay = relay("on", "on")) {
            relay.awaitReady();
            assertThat(database.queryText(STATE)).isEqualTo("completed");
            assertThat(database.queryLong("SELECT count(*) FROM events")).isEqualTo(2_000);
            assertThat(pending()).isEqualTo(RelayBackfills.all().size() - 1);
            assertThat(database.queryLong(
                            "SELECT count(*) FROM backfill_audit WHERE action = 'start' AND actor = 'startup'"))
                    .isEqualTo(1);
        }
    }

    @Test
    void migrate_on_automatic_off_leaves_pending_alone_and_is_ready() throws Exception { // CF-4
        try (RunningRelay relay = relay("on", "off")) {
            relay.awaitReady();
            assertThat(pending()).isEqualTo(RelayBackfills.all().size());
        }
    }

    @Test
    void migrate_off_automatic_on_starts_the_required_backfill_on_a_schema_that_is_there() throws Exception { // CF-1
        migrated();
        try (RunningRelay relay = relay("off", "on")) {
            relay.awaitReady();
            assertThat(database.queryText(STATE)).isEqualTo("completed");
        }
    }

    @Test
    void migrate_off_automatic_off_leaves_pending_alone_and_is_ready() throws Exception { // CF-4
        migrated();
        try (RunningRelay relay = relay("off", "off")) {
            relay.awaitReady();
            assertThat(pending()).isEqualTo(RelayBackfills.all().size());
        }
    }

    @Test
    void what_was_started_is_recovered_even_in_manual_mode() throws Exception { // CF-5
        try (RunningRelay doomed = relay("on", "on", "--batch-size", "1", "--lease", "3s")) {
            Eventually.until(
                    "it works",
                    () -> tableExists() && database.queryLong("SELECT coalesce(sum(batches), 0) FROM backfill") > 0);
            doomed.kill();
        }
        assertThat(database.queryText(STATE)).isIn("running", "validating");
        try (RunningRelay heir = relay("off", "off")) {
            heir.awaitReady();
            Eventually.within(Duration.ofSeconds(60))
                    .holds("it is completed", () -> "completed".equals(database.queryText(STATE)));
        }
    }

    @Test
    void a_restart_rebuilds_the_gate_and_audits_no_second_start() throws Exception { // CF-2
        try (RunningRelay first = relay("on", "on")) {
            first.awaitReady();
            assertThat(first.stop()).isZero();
        }
        try (RunningRelay second = relay("on", "on")) {
            second.awaitReady();
        }
        assertThat(database.queryLong("SELECT count(*) FROM backfill_audit WHERE action = 'start'"))
                .isEqualTo(1);
        assertThat(database.queryLong("SELECT count(*) FROM events")).isEqualTo(2_000);
    }

    static Stream<Arguments> cells() {
        return Stream.of("on", "off")
                .flatMap(migrate -> Stream.of("on", "off")
                        .flatMap(automatic -> Arrays.stream(PreparedRows.values())
                                .map(rows -> Arguments.of(migrate, automatic, rows))));
    }

    @ParameterizedTest
    @MethodSource("cells")
    void each_cell_does_what_it_says_with_rows_in_all_states_and_again_after_a_restart(
            String autoMigrate, String autoBackfill, PreparedRows rows) throws Exception { // CF, CT-13
        rows.in(database);
        boolean automatic = autoBackfill.equals("on");
        Map<String, String> before = wholeRows();
        long starts = startsByStartup();
        try (RunningRelay relay = relay(autoMigrate, autoBackfill)) {
            expectGate(relay, rows, automatic);
            for (String id : rows.states().keySet()) {
                Eventually.until(
                        id + " is " + rows.expected(id, automatic),
                        () -> rows.expected(id, automatic)
                                .wireName()
                                .equals(database.queryText("SELECT state FROM backfill WHERE id = ?", id)));
            }
            assertThat(relay.stop()).isZero();
        }
        Map<String, String> after = wholeRows();
        rows.states().keySet().stream()
                .filter(id -> rows.isLeftAlone(id, automatic))
                .forEach(id -> assertThat(after.get(id)).as(id).isEqualTo(before.get(id)));
        try (RunningRelay again = relay(autoMigrate, autoBackfill)) {
            expectGate(again, rows, automatic); // rebuilt from the rows: CF-2
            assertThat(again.stop()).isZero();
        }
        assertThat(wholeRows()).isEqualTo(after);
        assertThat(startsByStartup()).as("nothing was pending and required").isEqualTo(starts);
    }

    private void expectGate(RunningRelay relay, PreparedRows rows, boolean automatic) throws Exception {
        BackfillState required = rows.expected(ThreadRoots.ID, automatic);
        if (!automatic || required == BackfillState.COMPLETED) {
            relay.awaitReady(); // CF-4
            return;
        }
        Eventually.until(
                "the gate is closed and says why",
                () -> { // CF-1
                    JsonNode readiness = relay.readiness();
                    return !readiness.get("ready").asBoolean()
                            && readiness.at("/inputs/schema/ok").asBoolean()
                            && readiness
                                    .at("/inputs/backfills/reason")
                                    .asText()
                                    .contains(ThreadRoots.ID + " is " + required.wireName());
                });
        relay.assertAlive(); // CF-3
    }

    private Map<String, String> wholeRows() {
        return database.queryRows("SELECT id, b::text AS line FROM backfill AS b").stream()
                .collect(Collectors.toMap(row -> row.get("id"), row -> row.get("line")));
    }

    private long startsByStartup() {
        return database.queryLong("SELECT count(*) FROM backfill_audit WHERE action = 'start' AND actor = 'startup'");
    }

    private boolean tableExists() {
        return database.queryBoolean("SELECT to_regclass('backfill') IS NOT NULL");
    }

    private long pending() {
        return database.queryLong("SELECT count(*) FROM backfill WHERE state = 'pending'");
    }

    private void migrated() throws Exception {
        try (RunningRelay first = relay("on", "off")) {
            first.awaitReady();
            assertThat(first.stop()).isZero();
        }
    }

    private RunningRelay relay(String autoMigrate, String autoBackfill, String... more) throws Exception {
        String[] options = Stream.concat(
                        Stream.of(
                                "--jdbc-url",
                                database.jdbcUrl(),
                                "--auto-migrate",
                                autoMigrate,
                                "--auto-backfill",
                                autoBackfill),
                        Arrays.stream(more))
                .toArray(String[]::new);
        return RunningRelay.start(directory, options);
    }
}
