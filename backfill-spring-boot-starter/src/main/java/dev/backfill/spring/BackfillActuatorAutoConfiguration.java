package dev.backfill.spring;

import dev.backfill.host.Backfills;
import dev.backfill.operate.BackfillOperations;
import org.springframework.boot.actuate.autoconfigure.endpoint.condition.ConditionalOnAvailableEndpoint;
import org.springframework.boot.actuate.autoconfigure.info.ConditionalOnEnabledInfoContributor;
import org.springframework.boot.actuate.info.InfoContributor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * The Actuator endpoint {@code backfills} and the part {@code backfill} of {@code info}.
 *
 * @since 0.1
 */
@AutoConfiguration(after = BackfillAutoConfiguration.class)
@ConditionalOnBean(Backfills.class)
public final class BackfillActuatorAutoConfiguration {

    BackfillActuatorAutoConfiguration() {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ConditionalOnAvailableEndpoint.class)
    static final class Actuator {

        @Bean
        @ConditionalOnMissingBean
        @ConditionalOnAvailableEndpoint
        BackfillsEndpoint backfillsEndpoint(BackfillOperations operations) {
            return new BackfillsEndpoint(operations);
        }

        // Info is often public, so it tells no IDs and no reasons (AU-4).
        @Bean
        @ConditionalOnMissingBean(name = "backfillInfoContributor")
        @ConditionalOnEnabledInfoContributor("backfill")
        InfoContributor backfillInfoContributor(Backfills backfills) {
            return info -> info.withDetail(
                    "backfill", java.util.Map.of("ready", backfills.readiness().isOpen()));
        }
    }
}
