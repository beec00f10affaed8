package dev.backfill.spring;

import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.BackfillDefinition;
import dev.backfill.Family;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.postgres.PostgresBackfills;
import dev.backfill.spi.AuditSink;
import dev.backfill.spi.BackfillListener;
import dev.backfill.spi.HealthProbe;
import dev.backfill.spi.OperatorAuthorizer;
import javax.sql.DataSource;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnProperty;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.sql.init.dependency.DependsOnDatabaseInitialization;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Conditional;

/**
 * The engine, from beans and the properties {@code backfill.*}. Every bean here gives way to one of the application's.
 *
 * @since 0.1
 */
@AutoConfiguration(
        afterName = {
            "org.springframework.boot.autoconfigure.jdbc.DataSourceAutoConfiguration",
            "org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration"
        })
@ConditionalOnClass({DataSource.class, HikariDataSource.class})
@ConditionalOnBean(DataSource.class)
@ConditionalOnProperty(prefix = "backfill", name = "enabled", matchIfMissing = true)
@EnableConfigurationProperties(BackfillProperties.class)
public final class BackfillAutoConfiguration {

    BackfillAutoConfiguration() {}

    @Bean
    @ConditionalOnMissingBean
    EngineOptions backfillEngineOptions(BackfillProperties properties, ObjectProvider<HealthProbe> probes) {
        return EngineSettings.options(properties.engine(), probes.orderedStream());
    }

    // No candidate for who asks for any data source: Boot's own pool, JPA, Flyway and transactions never see it.
    @Bean(defaultCandidate = false)
    @BackfillDataSource
    @Conditional(NoMarkedDataSource.class)
    HikariDataSource backfillDataSource(
            ObjectProvider<DataSource> application, BackfillProperties properties, EngineOptions options) {
        return EnginePool.like(application.getIfUnique(), properties.pool(), options.workers());
    }

    @Bean
    @ConditionalOnMissingBean
    OperatorAuthorizer backfillAuthorizer() {
        return new DefaultAuthorizer();
    }

    // After Flyway, Liquibase and scripts, whoever owns the library's tables.
    @Bean(destroyMethod = "close")
    @ConditionalOnMissingBean
    @DependsOnDatabaseInitialization
    Backfills backfills(
            @BackfillDataSource DataSource pool,
            BackfillProperties properties,
            EngineOptions options,
            OperatorAuthorizer authorizer,
            HostBeans beans) {
        Backfills.Builder builder = PostgresBackfills.on(pool)
                .requiredAtStartup(properties.required().toArray(String[]::new))
                .schema(properties.schema().mode())
                .options(options)
                .operators(authorizer);
        if (properties.schema().name() != null) {
            builder.schemaName(properties.schema().name());
        }
        if (properties.processName() != null) {
            builder.processName(properties.processName());
        }
        beans.addTo(builder);
        Backfills started = builder.startup();
        if (properties.failFast()) {
            requireStarted(started);
        }
        return started;
    }

    @Bean
    HostBeans backfillHostBeans(
            ObjectProvider<BackfillDefinition<?>> definitions,
            ObjectProvider<Family<?>> families,
            ObjectProvider<BackfillListener> listeners,
            ObjectProvider<AuditSink> audit,
            ObjectProvider<BackfillsCustomizer> customizers) {
        return new HostBeans(definitions, families, listeners, audit, customizers);
    }

    @Bean
    @ConditionalOnMissingBean
    BackfillOperations backfillOperations(Backfills backfills) {
        return backfills.operations();
    }

    @Bean
    BackfillsLifecycle backfillsLifecycle(Backfills backfills) {
        return new BackfillsLifecycle(backfills);
    }

    private static void requireStarted(Backfills started) {
        try {
            started.requireStarted();
        } catch (RuntimeException e) {
            started.close();
            throw e;
        }
    }
}
