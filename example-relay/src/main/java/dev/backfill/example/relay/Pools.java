package dev.backfill.example.relay;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import java.time.Duration;
import javax.sql.DataSource;

/**
 * Two pools on one database: the engine has its own, so that neither a busy relay starves its backfills nor the other way round.
 * Neither needs a database to be there when it is made, and both recover when it comes back.
 */
final class Pools implements AutoCloseable {

    private static final int SERVING_CONNECTIONS = 4;
    private static final Duration PATIENCE = Duration.ofSeconds(2);

    private final HikariDataSource serving;
    private final HikariDataSource engine;

    private Pools(HikariDataSource serving, HikariDataSource engine) {
        this.serving = serving;
        this.engine = engine;
    }

    /**
     * Opens both.
     *
     * @param application what {@code pg_stat_activity} shows
     */
    static Pools open(String jdbcUrl, int workers, String application) {
        HikariDataSource serving = pool("serving", jdbcUrl, SERVING_CONNECTIONS, application);
        return new Pools(serving, pool("backfill", jdbcUrl, workers + 4, application));
    }

    private static HikariDataSource pool(String name, String jdbcUrl, int size, String application) {
        HikariConfig config = new HikariConfig();
        config.setPoolName("relay-" + name);
        config.setJdbcUrl(jdbcUrl);
        config.addDataSourceProperty("ApplicationName", application);
        config.addDataSourceProperty("tcpKeepAlive", "true");
        config.addDataSourceProperty("connectTimeout", "5");
        // An answer that is lost in a login would hold the pool's only thread that adds connections for ever.
        config.addDataSourceProperty("loginTimeout", "5");
        config.setMaximumPoolSize(size);
        config.setMinimumIdle(0);
        config.setInitializationFailTimeout(-1);
        config.setConnectionTimeout(PATIENCE.toMillis());
        config.setValidationTimeout(PATIENCE.toMillis() / 2);
        return new HikariDataSource(config);
    }

    DataSource serving() {
        return serving;
    }

    DataSource engine() {
        return engine;
    }

    @Override
    public void close() {
        engine.close();
        serving.close();
    }
}
