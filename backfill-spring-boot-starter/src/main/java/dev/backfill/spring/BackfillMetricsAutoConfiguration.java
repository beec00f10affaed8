package dev.backfill.spring;

import dev.backfill.host.Backfills;
import dev.backfill.operate.Authority;
import dev.backfill.postgres.observe.MicrometerBackfills;
import dev.backfill.postgres.observe.ObservedBackfills;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Meters and observations, where Micrometer has a registry.
 *
 * @since 0.1
 */
@AutoConfiguration(
        after = BackfillAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.actuate.autoconfigure.metrics.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.actuate.autoconfigure.observation.ObservationAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration"
        })
@ConditionalOnBean(Backfills.class)
public final class BackfillMetricsAutoConfiguration {

    BackfillMetricsAutoConfiguration() {}

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(MeterRegistry.class)
    @ConditionalOnBean(MeterRegistry.class)
    static final class Meters {

        @Bean
        @ConditionalOnMissingBean
        MicrometerBackfills backfillMeters(MeterRegistry registry) {
            return MicrometerBackfills.in(registry);
        }

        @Bean
        SmartInitializingSingleton backfillGauges(MicrometerBackfills meters, Backfills backfills) {
            return () -> meters.watch(backfills, Authority.host("metrics"));
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ConditionalOnClass(ObservationRegistry.class)
    @ConditionalOnBean(ObservationRegistry.class)
    static final class Observations {

        @Bean
        @ConditionalOnMissingBean
        ObservedBackfills backfillObservations(ObservationRegistry registry) {
            return ObservedBackfills.in(registry);
        }
    }
}
