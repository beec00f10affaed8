package dev.backfill.postgres.startup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import dev.backfill.BackfillException;
import dev.backfill.host.Backfills;
import dev.backfill.host.Readiness;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.spi.ConnectionSource;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.FaultProxy;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A database that is down at boot, goes away later and comes back; and closing whatever it does. */
@PostgresTest
class OutageIT {

    private static final int ROWS = 60;

    private final TestDatabase db;
    private FaultProxy network;
    private ConnectionSource source;

    OutageIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void connect() throws Exception {
        Host.items(db, ROWS);
        network = FaultProxy.before(db.jdbcUrl());
        source = Host.source(network.jdbcUrl());
    }

    @AfterEach
    void disconnect() {
        network.close();
    }

    private Backfills automatic(String process) {
        return Host.start(
                source,
                SchemaMode.MIGRATE,
                b -> b.requiredAtStartup(Host.ID.value()).processName(process));
    }

    private static List<String> threadsOf(String process) {
        return Thread.getAllStackTraces().keySet().stream()
                .map(Thread::getName)
                .filter(name -> name.startsWith("backfill-") && name.contains(process))
                .toList();
    }

    /** Threads that were let go end by themselves at once; this waits until the scheduler has had them. */
    private static void expectNoThreads(String process) {
        Eventually.until("every thread has ended", () -> threadsOf(process).isEmpty());
    }

    @Test
    void a_database_that_is_down_at_boot_is_unknown_until_it_comes_up() { // CF-2, CF-3
        network.down();
        try (Backfills engine = automatic("late-db")) {
            Readiness readiness = engine.readiness();
            assertThat(readiness.isOpen()).isFalse();
            assertThat(readiness.database().status()).isEqualTo(Readiness.Status.UNKNOWN);
            assertThat(readiness.schema().status()).isEqualTo(Readiness.Status.UNKNOWN);
            assertThat(readiness.backfills().status()).isEqualTo(Readiness.Status.UNKNOWN);
            assertThatThrownBy(engine::requireStarted)
                    .isInstanceOfSatisfying(
                            BackfillUnavailableException.class,
                            e -> assertThat(e.reason()).isEqualTo(BackfillUnavailableException.Reason.UNAVAILABLE));
            network.heal();
            Host.awaitOpen(engine);
        }
        assertThat(db.queryLong("select count(*) from items where doubled = n * 2"))
                .isEqualTo(ROWS);
    }

    @ParameterizedTest
    @ValueSource(strings = {"down", "silent"})
    void a_database_that_goes_away_later_is_unknown_and_workers_recover_without_help(String how)
            throws Exception { // CF-2, RB-3
        try (Connection holder = db.connection();
                Statement statement = holder.createStatement();
                Backfills engine = slow("gone-db")) {
            // The first batch is held up by a row lock, so that the outage comes in the middle of the work.
            Host.awaitStarted(engine);
            Eventually.until("work goes on", () -> db.queryLong("select batches from backfill") > 2);
            holder.setAutoCommit(false);
            statement.execute("select 1 from items where doubled is null for update");
            away(how);
            Host.awaitDatabase(engine, Readiness.Status.UNKNOWN);
            assertThat(engine.readiness().backfills().ok()).isFalse();
            holder.rollback();
            network.heal();
            Host.awaitOpen(engine);
        }
        assertThat(db.queryLong("select count(*) from items where doubled = n * 2"))
                .isEqualTo(ROWS);
        assertThat(db.queryLong("select rows_scanned from backfill")).isEqualTo(ROWS);
    }

    private Backfills slow(String process) {
        return Host.start(
                source,
                SchemaMode.MIGRATE,
                b -> b.requiredAtStartup(Host.ID.value())
                        .processName(process)
                        .options(Host.shortLease().batchSizeCap(1).build()));
    }

    private void away(String how) {
        if (how.equals("down")) {
            network.down();
        } else {
            network.stall();
        }
    }

    @Test
    void an_outage_makes_every_input_unknown_however_open_it_was() { // CF-2, CF-6
        try (Backfills engine = automatic("open-db")) {
            Host.awaitOpen(engine);
            network.down();
            Host.awaitDatabase(engine, Readiness.Status.UNKNOWN);
            assertThat(engine.readiness().backfills().status()).isEqualTo(Readiness.Status.UNKNOWN);
            assertThat(engine.readiness().schema().status()).isEqualTo(Readiness.Status.UNKNOWN);
            network.heal();
            Host.awaitOpen(engine);
        }
    }

    @Test
    void a_restart_during_an_outage_is_not_ready_although_everything_had_completed() { // CF-2
        try (Backfills engine = automatic("before")) {
            Host.awaitOpen(engine);
        }
        network.down();
        try (Backfills engine = automatic("after")) {
            assertThat(engine.readiness().isOpen()).isFalse();
            assertThat(engine.readiness().backfills().status()).isEqualTo(Readiness.Status.UNKNOWN);
            network.heal();
            Host.awaitOpen(engine);
        }
    }

    @Test
    void closing_ends_every_thread_and_releases_the_claim_and_may_be_repeated() { // BB-3
        Backfills engine = slow("orderly");
        Eventually.until(
                "it works", () -> db.queryLong("select count(*) from backfill where claim_token is not null") > 0);
        assertThat(threadsOf("orderly")).isNotEmpty();
        engine.close();
        engine.close();
        expectNoThreads("orderly");
        assertThat(db.queryLong("select count(*) from backfill where claim_token is not null"))
                .isZero();
        assertThatThrownBy(() -> engine.worker("x"))
                .isInstanceOf(BackfillException.class)
                .hasMessageContaining("closed");
        assertThat(engine.readiness().isOpen()).isFalse();
    }

    @Test
    void closing_while_it_boots_against_a_silent_database_ends_every_thread() { // BB-3
        network.stall();
        Backfills engine = automatic("booting");
        engine.close();
        expectNoThreads("booting");
        assertThatThrownBy(engine::requireStarted).isInstanceOf(BackfillException.class);
    }

    @Test
    void closing_while_it_migrates_behind_a_lock_ends_every_thread() throws Exception { // BB-3
        try (Connection holder = db.connection();
                Statement statement = holder.createStatement()) {
            holder.setAutoCommit(false);
            statement.execute("create table backfill_schema_version (version int, safe_from int)");
            // Creating the same table waits for the transaction that may yet take it back.
            Backfills engine = automatic("migrating");
            engine.close();
            expectNoThreads("migrating");
        }
    }

    @Test
    void closing_while_the_database_is_silent_ends_every_thread() { // BB-3
        Backfills engine = Host.start(source, SchemaMode.MIGRATE, longPatience("hanging"));
        Eventually.until("it works", () -> db.queryLong("select batches from backfill") > 2);
        network.stall();
        engine.close();
        expectNoThreads("hanging");
    }

    /** Socket timeouts far longer than the close timeout: only aborting the connections ends the threads in time. */
    private static Consumer<Backfills.Builder> longPatience(String process) {
        return b -> b.requiredAtStartup(Host.ID.value())
                .processName(process)
                .options(Host.quick()
                        .batchSizeCap(1)
                        .workerSocketTimeout(Duration.ofMinutes(10))
                        .operatorTimeout(Duration.ofMinutes(10))
                        .build());
    }
}
