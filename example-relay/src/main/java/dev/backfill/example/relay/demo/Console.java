package dev.backfill.example.relay.demo;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.example.relay.backfills.RelayBackfills;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.postgres.PostgresBackfills;

/** The operator's seat: a third process on the same database that steers and watches, and claims nothing. Thread-safe. */
final class Console implements AutoCloseable {

    private final HikariDataSource pool;
    private final Backfills backfills;

    private Console(HikariDataSource pool, Backfills backfills) {
        this.pool = pool;
        this.backfills = backfills;
    }

    static Console on(String jdbcUrl, Authority operator) {
        HikariConfig config = new HikariConfig();
        config.setPoolName("demo-console");
        config.setJdbcUrl(jdbcUrl);
        config.setMaximumPoolSize(3);
        HikariDataSource pool = new HikariDataSource(config);
        Backfills backfills = PostgresBackfills.on(pool)
                .definitions(RelayBackfills.all())
                .options(EngineOptions.builder().workers(0).build())
                .operators((authority, capability) -> authority.equals(operator))
                .processName("demo-console")
                .startup();
        return new Console(pool, backfills);
    }

    BackfillOperations operations() {
        return backfills.operations();
    }

    @Override
    public void close() {
        backfills.close();
        pool.close();
    }
}
