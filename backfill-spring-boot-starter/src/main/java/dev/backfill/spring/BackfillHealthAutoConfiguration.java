package dev.backfill.spring;

import dev.backfill.host.Backfills;
import org.springframework.aot.hint.RuntimeHints;
import org.springframework.aot.hint.RuntimeHintsRegistrar;
import org.springframework.aot.hint.TypeReference;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.ImportRuntimeHints;

/**
 * Readiness as a health indicator {@code backfills}, in the readiness group only. Boot 4 moved the types of Actuator's health to another
 * package, so there are two of what differs by its imports alone.
 *
 * @since 0.1
 */
@AutoConfiguration(
        after = BackfillAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.availability.AvailabilityProbesAutoConfiguration",
            "org.springframework.boot.health.autoconfigure.actuate.endpoint.AvailabilityProbesAutoConfiguration"
        })
@ConditionalOnBean(Backfills.class)
@ImportRuntimeHints(BackfillHealthAutoConfiguration.Hints.class)
public final class BackfillHealthAutoConfiguration {

    BackfillHealthAutoConfiguration() {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(org.springframework.boot.actuate.health.HealthEndpointGroupsPostProcessor.class)
    static final class Boot3 {

        @Bean
        @ConditionalOnMissingBean(name = "backfillsHealthIndicator")
        org.springframework.boot.actuate.health.HealthIndicator backfillsHealthIndicator(Backfills backfills) {
            return () -> {
                ReadinessHealth health = ReadinessHealth.of(backfills.readiness());
                return org.springframework.boot.actuate.health.Health.status(health.status())
                        .withDetails(health.details())
                        .build();
            };
        }

        @Bean
        static org.springframework.boot.actuate.health.HealthEndpointGroupsPostProcessor backfillsHealthGroups() {
            return groups -> HealthGroups.readinessOnly(
                    org.springframework.boot.actuate.health.HealthEndpointGroups.class,
                    org.springframework.boot.actuate.health.HealthEndpointGroup.class,
                    groups);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor.class)
    static final class Boot4 {

        @Bean
        @ConditionalOnMissingBean(name = "backfillsHealthIndicator")
        org.springframework.boot.health.contributor.HealthIndicator backfillsHealthIndicator(Backfills backfills) {
            return () -> {
                ReadinessHealth health = ReadinessHealth.of(backfills.readiness());
                return org.springframework.boot.health.contributor.Health.status(health.status())
                        .withDetails(health.details())
                        .build();
            };
        }

        @Bean
        static org.springframework.boot.health.actuate.endpoint.HealthEndpointGroupsPostProcessor
                backfillsHealthGroups() {
            return groups -> HealthGroups.readinessOnly(
                    org.springframework.boot.health.actuate.endpoint.HealthEndpointGroups.class,
                    org.springframework.boot.health.actuate.endpoint.HealthEndpointGroup.class,
                    groups);
        }
    }

    /** The proxies of {@link HealthGroups}, for native images. */
    static final class Hints implements RuntimeHintsRegistrar {

        @Override
        public void registerHints(RuntimeHints hints, @org.jspecify.annotations.Nullable ClassLoader loader) {
            for (String home : new String[] {"actuate.health", "health.actuate.endpoint"}) {
                for (String type : new String[] {"HealthEndpointGroups", "HealthEndpointGroup"}) {
                    hints.proxies().registerJdkProxy(TypeReference.of("org.springframework.boot." + home + "." + type));
                }
            }
        }
    }
}
