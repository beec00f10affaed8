package dev.backfill.spring;

import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.context.annotation.ConditionContext;
import org.springframework.context.annotation.ConfigurationCondition;
import org.springframework.core.type.AnnotatedTypeMetadata;

/**
 * Holds where the application brings no {@link BackfillDataSource}. Boot's own condition does not see a bean with
 * {@code defaultCandidate = false}, which is what a marked one should be.
 */
final class NoMarkedDataSource implements ConfigurationCondition {

    NoMarkedDataSource() {}

    @Override
    public ConfigurationPhase getConfigurationPhase() {
        return ConfigurationPhase.REGISTER_BEAN;
    }

    @Override
    public boolean matches(ConditionContext context, AnnotatedTypeMetadata metadata) {
        ConfigurableListableBeanFactory beans = context.getBeanFactory();
        return beans == null || beans.getBeanNamesForAnnotation(BackfillDataSource.class).length == 0;
    }
}
