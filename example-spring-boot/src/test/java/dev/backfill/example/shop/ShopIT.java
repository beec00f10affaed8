package dev.backfill.example.shop;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.host.Backfills;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import jakarta.persistence.EntityManagerFactory;
import java.io.File;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import javax.sql.DataSource;
import org.flywaydb.core.Flyway;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.SpringApplication;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.transaction.support.TransactionTemplate;

/** The shop in two lives: in a new database, and in one that has to be repaired first. */
@PostgresTest
class ShopIT {

    private static final String API = "/admin/backfills";
    private static final String ROW = "/customers.search-name.v1";
    private static final Duration PATIENCE = Duration.ofMinutes(2);

    private final TestDatabase db;

    @TempDir
    Path logs;

    ShopIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void empty() {
        db.execute("drop schema public cascade; create schema public");
    }

    private List<String> arguments(String... more) {
        List<String> all = new ArrayList<>(List.of(
                "--server.port=0",
                "--management.server.port=0",
                "--spring.datasource.url=" + db.jdbcUrl(),
                "--spring.main.banner-mode=off",
                "--logging.level.root=warn",
                "--logging.level.dev.backfill=info"));
        all.addAll(List.of(more));
        return all;
    }

    private ConfigurableApplicationContext shop(String... more) {
        return SpringApplication.run(ShopApplication.class, arguments(more).toArray(String[]::new));
    }

    private static int managementPort(ConfigurableApplicationContext shop) {
        return shop.getEnvironment().getRequiredProperty("local.management.port", Integer.class);
    }

    @Test
    void a_new_database_is_migrated_in_one_go_and_operators_use_the_shops_own_login() throws Exception { // SC-4, AU-1
        try (ConfigurableApplicationContext shop = shop()) {
            Eventually.until("the empty source is completed", () -> "completed".equals(state()));
            everythingElseIsOnItsOwnPool(shop);
            Browser nobody = new Browser(managementPort(shop));
            Eventually.until(
                    "ready",
                    () -> nobody.get("/actuator/health/readiness").statusCode() == 200);
            assertThat(nobody.get("/actuator/health/liveness").statusCode()).isEqualTo(200);
            nobodyLearnsAnything(nobody);
            aClerkLearnsNothing(new Browser(managementPort(shop)));
            anOperatorIsLetIn(new Browser(managementPort(shop)));
        }
    }

    private void everythingElseIsOnItsOwnPool(ConfigurableApplicationContext shop) {
        HikariDataSource own = (HikariDataSource) shop.getBean(DataSource.class);
        HikariDataSource engines = (HikariDataSource) shop.getBean("backfillDataSource");
        assertThat(own.getMaximumPoolSize()).isEqualTo(10);
        assertThat(own.getPoolName()).isNotEqualTo("backfill");
        assertThat(engines.getMaximumPoolSize()).isEqualTo(5);
        assertThat(engines.getPoolName()).isEqualTo("backfill");
        assertThat(engines.isAutoCommit()).isTrue();
        assertThat(shop.getBean(Flyway.class).getConfiguration().getDataSource()).isSameAs(own);
        EntityManagerFactory jpa = shop.getBean(EntityManagerFactory.class);
        assertThat(jpa.getProperties().values()).contains(own).doesNotContain(engines);
        shop.getBean(TransactionTemplate.class)
                .executeWithoutResult(tx -> shop.getBean(Customers.class).save(new Customer("Ada")));
        assertThat(shop.getBean(Customers.class).findBySearchName("ada")).hasSize(1);
    }

    private static void nobodyLearnsAnything(Browser nobody) throws Exception { // AU-4
        for (String path : List.of(API + "/", API + ROW, API + "/console/", "/actuator/backfills")) {
            assertThat(nobody.get(path).statusCode()).as(path).isIn(302, 401);
        }
    }

    private static void aClerkLearnsNothing(Browser clerk) throws Exception { // AU-1, AU-4
        assertThat(clerk.logIn("carl")).doesNotContain("error");
        assertThat(clerk.get(API + "/").statusCode()).isEqualTo(401);
        assertThat(clerk.control(API + ROW + "/start", clerk.csrf()).statusCode())
                .isEqualTo(401);
        assertThat(clerk.get("/actuator/backfills").statusCode()).isEqualTo(403);
    }

    private void anOperatorIsLetIn(Browser operator) throws Exception {
        assertThat(operator.logIn("olga")).doesNotContain("error");
        assertThat(operator.get(API + "/console/").statusCode()).isEqualTo(200);
        assertThat(operator.get(API + "/").body()).contains("customers.search-name.v1");
        assertThat(operator.control(API + ROW + "/validate", null).statusCode()).isEqualTo(403);
        assertThat(operator.control(API + ROW + "/validate", operator.csrf()).statusCode())
                .isEqualTo(200);
        assertThat(operator.get("/actuator/backfills").body()).contains("\"state\":\"completed\"");
        assertThat(operator.get("/actuator/backfills" + ROW).body()).contains("\"generation\":");
        assertThat(operator.get("/actuator/backfills/nothing").statusCode()).isEqualTo(404);
        assertThat(operator.post("/actuator/backfills" + ROW, operator.csrf(), "{\"action\":\"pause\"}")
                        .statusCode())
                .isEqualTo(409);
        assertThat(operator.get("/actuator/info").body()).contains("\"ready\":true");
        assertThat(operator.get("/actuator/metrics/backfill.events").statusCode())
                .isEqualTo(200);
        assertThat(db.queryTexts("select distinct action from backfill_audit where actor = 'olga' order by 1"))
                .containsExactly("pause", "validate");
    }

    @Test
    void two_instances_repair_what_was_there_and_sigterm_in_the_middle_loses_nothing() throws Exception { // CL-5, CF-1
        Flyway.configure().dataSource(db.dataSource()).target("2").load().migrate();
        db.execute("insert into customers (name) select 'Name ' || i from generate_series(1, 60000) as i");
        String[] patient = {
            "--spring.flyway.target=2",
            "--backfill.engine.batch-size-cap=10",
            "--backfill.engine.retry-cap=1s",
            "--backfill.engine.contention-budget=100000"
        };
        Process first = process(patient);
        try (Connection gate = db.connection();
                Statement held = gate.createStatement()) {
            Eventually.within(PATIENCE).holds("the first instance repairs", () -> repaired() > 0);
            // Nobody gets past this row before the test lets them. Not earlier: the start barrier would wait for it.
            gate.setAutoCommit(false);
            held.execute("select from customers where id = 60000 for update");
            patient[1] = "--backfill.engine.batch-size-cap=1000";
            try (ConfigurableApplicationContext second = shop(patient)) {
                Browser probe = new Browser(managementPort(second));
                assertThat(probe.get("/actuator/health/readiness").statusCode()).isEqualTo(503);
                assertThat(probe.get("/actuator/health").statusCode()).isEqualTo(200);
                assertThat(probe.get("/actuator/health/liveness").statusCode()).isEqualTo(200);
                assertThatThrownBy(() -> contract(second)).hasStackTraceContaining("customers.search-name.v1 is running");

                first.destroy(); // SIGTERM
                assertThat(first.waitFor(30, TimeUnit.SECONDS)).isTrue();
                assertThat(repaired()).isBetween(1L, 59_999L);
                assertThat(second.getBean(Backfills.class).readiness().isOpen()).isFalse();
                gate.rollback();

                Eventually.within(PATIENCE).holds("the second instance completes", () -> "completed".equals(state()));
                assertThat(repaired()).isEqualTo(60_000);
                Eventually.until(
                        "ready",
                        () -> probe.get("/actuator/health/readiness").statusCode() == 200);
                contract(second);
            }
        } finally {
            first.destroyForcibly();
        }
        assertThat(db.queryBoolean(
                        "select attnotnull from pg_attribute where attrelid = 'customers'::regclass and attname = 'search_name'"))
                .isTrue();
    }

    /** The next release's migration, by the Flyway that Boot has made, with the guard that is a bean. */
    private static void contract(ConfigurableApplicationContext shop) {
        Flyway.configure()
                .configuration(shop.getBean(Flyway.class).getConfiguration())
                .target("latest")
                .load()
                .migrate();
    }

    private Process process(String... more) throws Exception {
        String classPath =
                System.getProperty("surefire.test.class.path", System.getProperty("java.class.path", ""));
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC",
                "-cp",
                classPath,
                ShopApplication.class.getName()));
        command.addAll(arguments(more));
        File log = logs.resolve("first.log").toFile();
        ProcessBuilder builder =
                new ProcessBuilder(command).redirectErrorStream(true).redirectOutput(log);
        builder.environment().putAll(Map.of("HOSTNAME", "first"));
        return builder.start();
    }

    private String state() {
        return db.queryBoolean("select to_regclass('backfill') is null")
                ? "none"
                : db.queryText("select state from backfill where id = 'customers.search-name.v1'");
    }

    private long repaired() {
        return db.queryLong("select count(*) from customers where search_name is not null");
    }
}
