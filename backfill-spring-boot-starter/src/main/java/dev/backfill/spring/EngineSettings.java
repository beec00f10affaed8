package dev.backfill.spring;

import dev.backfill.host.EngineOptions;
import dev.backfill.host.HealthLimits;
import dev.backfill.spi.HealthProbe;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Turns properties into options. */
final class EngineSettings {

    private EngineSettings() {}

    static EngineOptions options(BackfillProperties.Engine given, Stream<HealthProbe> probes) {
        EngineOptions.Builder options = EngineOptions.builder();
        HealthLimits.Builder limits = HealthLimits.builder();
        probes.forEach(limits::probe);
        options.health(limits.build());
        set(given.workers(), options::workers);
        set(given.lease(), options::lease);
        set(given.transactionTimeout(), options::transactionTimeout);
        set(given.statementTimeout(), options::statementTimeout);
        set(given.lockTimeout(), options::lockTimeout);
        set(given.idleInTransactionTimeout(), options::idleInTransactionTimeout);
        set(given.poll(), options::poll);
        set(given.retryBase(), options::retryBase);
        set(given.retryCap(), options::retryCap);
        set(given.maxAttempts(), options::maxAttempts);
        set(given.contentionBudget(), options::contentionBudget);
        set(given.barrierTimeout(), options::barrierTimeout);
        set(given.validationTimeout(), options::validationTimeout);
        set(given.closeTimeout(), options::closeTimeout);
        set(given.workerSocketTimeout(), options::workerSocketTimeout);
        set(given.operatorTimeout(), options::operatorTimeout);
        set(given.batchSizeCap(), options::batchSizeCap);
        set(given.fusedCommit(), options::fusedCommit);
        set(given.preparedStatements(), options::preparedStatements);
        return options.build();
    }

    private static <T> void set(@Nullable T value, Consumer<T> option) {
        if (value != null) {
            option.accept(value);
        }
    }
}
