package dev.backfill.postgres.startup;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import dev.backfill.host.Readiness;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.Authority;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.postgres.PostgresBackfills;
import dev.backfill.postgres.ReplicaGate;
import dev.backfill.spi.OperatorAuthorizer;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The host of {@code docs/embed.md}, run. */
@PostgresTest
class EmbeddingIT {

    private final TestDatabase db;

    EmbeddingIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void history() {
        db.clear();
        db.execute("create table events (id bigint primary key, tags jsonb not null)");
        db.execute(
                "insert into events select g, jsonb_build_object('e', array[g::text]) from generate_series(1, 100) as g");
    }

    // region definition
    static BackfillDefinition<Long> threadRoots() {
        return Backfill.define("events.thread-root.v1")
                .describedAs("Computes thread_root for replies written before threads existed")
                .over("events", Keys.bigint("id"))
                .batchSize(1_000)
                .repair(Repair.update()
                        .set("thread_root", "(tags #>> '{e,0}')::bigint")
                        .where("thread_root IS NULL AND tags ? 'e'"))
                .validate(Validation.noRowMatches("thread_root IS NULL AND tags ? 'e'"))
                .requires("events", "tags", "jsonb")
                .build();
    }
    // endregion

    // region pool
    static HikariDataSource enginePool(String jdbcUrl, int workers) {
        HikariConfig config = new HikariConfig();
        config.setJdbcUrl(jdbcUrl);
        config.setPoolName("backfill");
        config.setMaximumPoolSize(workers + 4); // workers, two validations, an operator's call, a probe
        config.setMinimumIdle(0);
        config.setConnectionTimeout(2_000); // a probe must not wait for half a minute
        config.setInitializationFailTimeout(-1); // the database may come up after us
        config.addDataSourceProperty("connectTimeout", "5");
        config.addDataSourceProperty("loginTimeout", "5"); // an answer lost in a login must not hold the pool for ever
        config.addDataSourceProperty("tcpKeepAlive", "true");
        return new HikariDataSource(config);
    }
    // endregion

    // region startup
    static Backfills startBackfills(DataSource enginePool, DataSource servingPool, OperatorAuthorizer operators) {
        return PostgresBackfills.on(enginePool)
                .definitions(threadRoots())
                .requiredAtStartup("events.thread-root.v1") // automatic mode; leave out for manual
                .schema(SchemaMode.MIGRATE) // VERIFY where another tool applies the published SQL
                .hostMigrations(() -> expand(servingPool)) // runs with MIGRATE only
                .options(EngineOptions.builder().workers(2).build())
                .operators(operators)
                .startup(); // returns within five seconds, whatever the database does
    }
    // endregion

    // region expand
    static void expand(DataSource database) throws SQLException {
        try (Connection connection = database.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.execute("SET LOCAL lock_timeout = '3s'");
            statement.execute("ALTER TABLE events ADD COLUMN IF NOT EXISTS thread_root bigint");
            connection.commit();
        }
    }
    // endregion

    // region readiness
    static boolean mayServe(Backfills backfills, boolean otherChecks) {
        Readiness readiness = backfills.readiness();
        return otherChecks && readiness.isOpen();
    }
    // endregion

    // region main
    static Backfills mainOfAHost(String jdbcUrl, DataSource servingPool, OperatorAuthorizer operators) {
        HikariDataSource enginePool = enginePool(jdbcUrl, 2);
        Backfills backfills = startBackfills(enginePool, servingPool, operators);
        Runtime.getRuntime().addShutdownHook(new Thread(() -> stop(backfills, enginePool), "stop"));
        return backfills;
    }

    static void stop(Backfills backfills, HikariDataSource enginePool) {
        backfills.close(); // releases claims, ends its threads, within the close timeout
        enginePool.close(); // only then
    }
    // endregion

    // region host-start
    static boolean startAtDeployment(Backfills backfills, String release) {
        ActionOutcome outcome = backfills
                .operations()
                .start(new OperatorRequest(
                        BackfillId.of("events.thread-root.v1"),
                        "start-thread-root-" + release, // the same from every replica: one request, one start
                        Authority.host("deployment"),
                        "Writers of " + release + " keep thread_root; old ones are drained"));
        return outcome instanceof ActionOutcome.Applied || outcome instanceof ActionOutcome.Converged;
    }
    // endregion

    // region replica-route
    static void openRoute(DataSource replica, AtomicBoolean mayReadThreadsThere) throws SQLException {
        try (Connection connection = replica.getConnection()) {
            if (ReplicaGate.hasReplayed(connection, "events.thread-root.v1")) {
                mayReadThreadsThere.set(true); // for ever: completion is immutable
            }
        }
    }
    // endregion

    @Test
    void the_documented_host_migrates_repairs_opens_and_stops() { // CF
        OperatorAuthorizer operators = (authority, capability) -> true;
        Backfills backfills = mainOfAHost(db.jdbcUrl(), db.dataSource(), operators);
        try {
            Eventually.until("it may serve", () -> mayServe(backfills, true));
            assertThat(mayServe(backfills, false)).isFalse(); // CF-6
            assertThat(db.queryLong("select count(*) from events where thread_root = id"))
                    .isEqualTo(100);
        } finally {
            backfills.close();
        }
    }

    @Test
    void a_start_at_deployment_is_one_request_from_every_replica() { // IK-2
        try (HikariDataSource pool = enginePool(db.jdbcUrl(), 2);
                Backfills backfills = PostgresBackfills.on(pool)
                        .definitions(threadRoots())
                        .schema(SchemaMode.MIGRATE)
                        .hostMigrations(() -> expand(db.dataSource()))
                        .operators((authority, capability) -> authority.kind() == Authority.Kind.HOST)
                        .startup()) {
            Host.awaitStarted(backfills);
            assertThat(startAtDeployment(backfills, "7")).isTrue();
            assertThat(startAtDeployment(backfills, "7")).isTrue();
            assertThat(db.queryLong(
                            "select count(*) from backfill_audit where action = 'start' and outcome = 'applied'"))
                    .isEqualTo(1);
        }
    }

    @Test
    void a_start_wakes_the_workers_of_its_own_process() { // CF-4: nobody else would start it
        EngineOptions hardlyEver =
                EngineOptions.builder().workers(2).poll(Duration.ofMinutes(10)).build();
        try (Backfills backfills = PostgresBackfills.on(db)
                .definitions(threadRoots())
                .schema(SchemaMode.MIGRATE)
                .hostMigrations(() -> expand(db.dataSource()))
                .options(hardlyEver)
                .processName("sleeper")
                .operators((authority, capability) -> true)
                .startup()) {
            Eventually.until("both workers have looked and rest", () -> resting("backfill-worker-sleeper-") == 2);
            assertThat(startAtDeployment(backfills, "7")).isTrue();
            Eventually.until(
                    "it is completed",
                    () -> db.queryText("select state from backfill").equals("completed"));
        }
    }

    private static long resting(String threads) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread ->
                        thread.getName().startsWith(threads) && thread.getState() == Thread.State.TIMED_WAITING)
                .count();
    }

    @Test
    void a_route_opens_once_the_completion_is_seen() throws Exception { // SC-6
        AtomicBoolean route = new AtomicBoolean();
        try (HikariDataSource pool = enginePool(db.jdbcUrl(), 2);
                Backfills backfills = startBackfills(pool, db.dataSource(), (authority, capability) -> true)) {
            Host.awaitOpen(backfills);
            openRoute(db.dataSource(), route);
        }
        assertThat(route).isTrue();
    }

    @ParameterizedTest
    @CsvSource({"autosave, always", "prepareThreshold, -1"})
    void connections_that_would_break_batches_are_refused_and_named(String parameter, String value) { // AT-1
        String url = db.jdbcUrl() + (db.jdbcUrl().contains("?") ? "&" : "?") + parameter + "=" + value;
        try (Backfills backfills = PostgresBackfills.on(() -> DriverManager.getConnection(url))
                .definitions(threadRoots())
                .schema(SchemaMode.MIGRATE)
                .operators(OperatorAuthorizer.denyAll())
                .startup()) {
            Eventually.until(
                    "the reason names it",
                    () -> backfills.readiness().toString().contains(parameter));
            assertThat(backfills.readiness().isOpen()).isFalse();
        }
    }
}
