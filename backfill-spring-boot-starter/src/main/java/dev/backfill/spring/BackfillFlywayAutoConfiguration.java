package dev.backfill.spring;

import dev.backfill.postgres.FlywayContractGuard;
import org.flywaydb.core.api.callback.Callback;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.context.annotation.Bean;

/**
 * Gives Flyway the contract guard that is a bean. Liquibase finds its guard by the class name in the change log.
 *
 * @since 0.1
 */
@AutoConfiguration(
        beforeName = {
            "org.springframework.boot.autoconfigure.flyway.FlywayAutoConfiguration",
            "org.springframework.boot.flyway.autoconfigure.FlywayAutoConfiguration"
        })
@ConditionalOnClass(Callback.class)
@ConditionalOnBean(FlywayContractGuard.class)
public final class BackfillFlywayAutoConfiguration {

    BackfillFlywayAutoConfiguration() {}

    @Bean
    Callback backfillContractGuard(FlywayContractGuard guard) {
        return guard.callback();
    }
}
