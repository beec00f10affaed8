package dev.backfill.spring;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import dev.backfill.postgres.observe.MicrometerBackfills;
import dev.backfill.spi.BackfillListener;
import dev.backfill.spi.OperatorAuthorizer;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.lang.reflect.Modifier;
import java.lang.reflect.RecordComponent;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.actuate.autoconfigure.metrics.MetricsAutoConfiguration;
import org.springframework.boot.actuate.autoconfigure.metrics.export.simple.SimpleMetricsExportAutoConfiguration;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** What becomes of beans and properties. */
@PostgresTest
class BackfillAutoConfigurationIT {

    private final TestDatabase db;
    private final ApplicationContextRunner application;

    BackfillAutoConfigurationIT(TestDatabase db) {
        this.db = db;
        this.application = new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        DataSourceAutoConfiguration.class,
                        MetricsAutoConfiguration.class,
                        SimpleMetricsExportAutoConfiguration.class,
                        BackfillAutoConfiguration.class,
                        BackfillSecurityAutoConfiguration.class,
                        BackfillMetricsAutoConfiguration.class))
                .withPropertyValues("spring.datasource.url=" + db.jdbcUrl(), "backfill.engine.poll=50ms");
    }

    @BeforeEach
    void items() {
        db.execute("drop schema public cascade; create schema public;"
                + " create table items (id bigint primary key, n int, doubled int);"
                + " insert into items (id, n) select i, i from generate_series(1, 20) as i");
    }

    @Configuration(proxyBeanMethods = false)
    static class Beans {

        static final CountDownLatch HEARD = new CountDownLatch(1);

        @Bean
        BackfillDefinition<Long> doubled() {
            return Backfill.define("items.doubled.v1")
                    .describedAs("Doubles n")
                    .over("items", Keys.bigint("id"))
                    .batchSize(10)
                    .repair(Repair.update().set("doubled", "n * 2").where("doubled IS NULL"))
                    .validate(Validation.noRowMatches("doubled IS NULL"))
                    .build();
        }

        @Bean
        BackfillListener listener() {
            return event -> HEARD.countDown();
        }

        @Bean
        OperatorAuthorizer authorizer() {
            return OperatorAuthorizer.denyAll();
        }
    }

    @Test
    void definitions_and_what_the_host_supplies_are_picked_up_as_beans() {
        application
                .withUserConfiguration(Beans.class)
                .withPropertyValues("backfill.required=items.doubled.v1", "backfill.process-name=shop-1")
                .run(context -> {
                    Eventually.until(
                            "it is completed",
                            () -> context.getBean(Backfills.class).readiness().isOpen());
                    assertThat(db.queryLong("select count(*) from items where doubled = n * 2"))
                            .isEqualTo(20);
                    assertThat(Beans.HEARD.await(10, TimeUnit.SECONDS)).isTrue();
                    assertThat(context)
                            .hasSingleBean(OperatorAuthorizer.class)
                            .hasSingleBean(MicrometerBackfills.class);
                    HikariDataSource pool = context.getBean("backfillDataSource", HikariDataSource.class);
                    assertThat(context.getBean(DataSource.class)).isNotSameAs(pool);
                    context.close();
                    assertThat(pool.isClosed()).isTrue();
                    assertThat(db.queryBoolean("select bool_and(claim_owner is null) from backfill"))
                            .isTrue();
                });
    }

    @Test
    void an_application_without_a_data_source_or_with_the_switch_off_has_no_engine() {
        application
                .withPropertyValues("backfill.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(Backfills.class));
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(BackfillAutoConfiguration.class))
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(Backfills.class));
    }

    @Test
    void every_option_of_the_engine_is_a_property() {
        Set<String> options = Arrays.stream(EngineOptions.Builder.class.getDeclaredMethods())
                .filter(method -> method.getReturnType() == EngineOptions.Builder.class
                        && Modifier.isPublic(method.getModifiers())
                        && !method.isSynthetic())
                .map(method -> method.getName())
                .collect(Collectors.toSet());
        options.removeAll(List.of("health", "scaledToLease"));
        assertThat(Arrays.stream(BackfillProperties.Engine.class.getRecordComponents())
                        .map(RecordComponent::getName))
                .containsExactlyInAnyOrderElementsOf(options);
        application
                .withPropertyValues("backfill.engine.workers=3", "backfill.engine.lease=40s")
                .run(context -> {
                    EngineOptions found = context.getBean(EngineOptions.class);
                    assertThat(found.workers()).isEqualTo(3);
                    assertThat(found.lease()).isEqualTo(Duration.ofSeconds(40));
                    assertThat(context.getBean("backfillDataSource", HikariDataSource.class)
                                    .getMaximumPoolSize())
                            .isEqualTo(7);
                });
    }

    @Test
    void a_value_out_of_range_and_a_pool_that_cant_be_copied_are_explained() {
        application
                .withPropertyValues("backfill.engine.lease=1s")
                .run(context -> assertThat(explained(context.getStartupFailure()))
                        .contains("transactionTimeout")
                        .contains("lease"));
        application
                .withBean(DataSource.class, () -> new DriverManagerDataSource(db.jdbcUrl()))
                .run(context -> assertThat(explained(context.getStartupFailure()))
                        .contains("DriverManagerDataSource")
                        .contains("@BackfillDataSource"));
        application
                .withPropertyValues("backfill.admin.enabled=true")
                .run(context ->
                        assertThat(explained(context.getStartupFailure())).contains("backfill.admin.tokens"));
    }

    private static String explained(Throwable failure) {
        FailureAnalysis analysis = new BackfillFailureAnalyzer().analyze(failure);
        assertThat(analysis).isNotNull();
        return analysis.getDescription() + " " + analysis.getAction();
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnPool {

        static String url = "";

        // region marked
        @Bean(defaultCandidate = false)
        @BackfillDataSource
        DataSource repairs() {
            return new DriverManagerDataSource(url);
        }
        // endregion
    }

    @Test
    void a_data_source_that_is_marked_is_the_engines_and_the_applications_own_is_still_made() {
        OwnPool.url = db.jdbcUrl();
        application.withUserConfiguration(OwnPool.class).run(context -> {
            assertThat(context).doesNotHaveBean("backfillDataSource").hasBean("dataSource");
            assertThat(context.getBean(DataSource.class)).isInstanceOf(HikariDataSource.class);
            Eventually.until(
                    "it works",
                    () -> context.getBean(Backfills.class).readiness().isOpen());
        });
    }

    @Test
    void a_boot_that_cant_complete_fails_where_that_is_asked_for() {
        application
                .withPropertyValues("backfill.schema.mode=verify", "backfill.fail-fast=true")
                .run(context -> assertThat(context).hasFailed());
        application.withPropertyValues("backfill.schema.mode=verify").run(context -> {
            assertThat(context).hasNotFailed();
            assertThat(context.getBean(Backfills.class).readiness().schema().ok())
                    .isFalse();
        });
    }
}
