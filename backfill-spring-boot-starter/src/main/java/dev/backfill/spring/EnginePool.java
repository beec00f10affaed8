package dev.backfill.spring;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariConfigMXBean;
import com.zaxxer.hikari.HikariDataSource;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.jdbc.DataSourceUnwrapper;

/**
 * Makes the engine's pool from the application's: the same database, user and driver settings, whatever they come from (properties,
 * service connections, code), and the engine's own size and limits.
 */
final class EnginePool {

    /** Two validations, an operator's call and a probe, beside the workers. */
    private static final int BESIDE_WORKERS = 4;

    private EnginePool() {}

    static HikariDataSource like(@Nullable DataSource application, BackfillProperties.Pool settings, int workers) {
        if (application == null) {
            throw new NoPoolException("there is not exactly one data source that is the application's primary one");
        }
        HikariDataSource pool =
                DataSourceUnwrapper.unwrap(application, HikariConfigMXBean.class, HikariDataSource.class);
        if (pool == null) {
            throw new NoPoolException("the application's data source is a "
                    + application.getClass().getName() + ", and only a HikariDataSource can be copied");
        }
        HikariConfig own = new HikariConfig();
        pool.copyStateTo(own);
        own.setMetricsTrackerFactory(null);
        own.setMetricRegistry(null);
        own.setHealthCheckRegistry(null);
        own.setRegisterMbeans(false);
        own.setPoolName(settings.name());
        own.setMaximumPoolSize(settings.size() == null ? workers + BESIDE_WORKERS : settings.size());
        own.setMinimumIdle(0);
        own.setConnectionTimeout(2_000); // a probe must not wait for half a minute
        own.setInitializationFailTimeout(-1); // the database may come up after us
        own.setAutoCommit(true);
        own.setTransactionIsolation(null);
        own.setLeakDetectionThreshold(0);
        return new HikariDataSource(own);
    }
}
