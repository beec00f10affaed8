package dev.backfill.spring;

import dev.backfill.host.SchemaMode;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * The properties {@code backfill.*}.
 *
 * @param enabled whether there is an engine in this application at all
 * @param required IDs of backfills or families that start at boot and keep the application unready until they are completed; none is manual mode
 * @param processName name of this process in claims and logs; default HOSTNAME and process ID
 * @param failFast whether a boot fails that can't complete its steps, instead of staying unready and trying again
 * @param schema the library's own tables
 * @param engine workers, time limits and retries
 * @param pool the engine's own connection pool
 * @param admin the operators' HTTP API and console
 */
@ConfigurationProperties("backfill")
record BackfillProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue List<String> required,
        @Nullable String processName,
        @DefaultValue("false") boolean failFast,
        @DefaultValue Schema schema,
        @DefaultValue Engine engine,
        @DefaultValue Pool pool,
        @DefaultValue Admin admin) {

    /**
     * The library's own tables.
     *
     * @param mode whether the engine applies its own migrations, after Flyway and Liquibase, or only verifies that somebody did
     * @param name schema of the library's tables; default the first of the connection's search path
     */
    record Schema(
            @DefaultValue("migrate") SchemaMode mode,
            @Nullable String name) {}

    /**
     * Workers, time limits and retries; what is left out keeps the library's default.
     *
     * @param workers claim workers in this process, 0 to 64; default 1
     * @param lease how long a claim holds without renewal; default 30 s
     * @param transactionTimeout longest that a batch transaction may take; default 10 s
     * @param statementTimeout longest that one statement of a batch may take; default 5 s
     * @param lockTimeout longest that a batch waits for a lock; default 250 ms
     * @param idleInTransactionTimeout longest that a batch may leave its transaction idle; default 5 s
     * @param poll how often an idle worker looks; default 1 s
     * @param retryBase first retry delay; default 1 s
     * @param retryCap longest retry delay; default 60 s
     * @param maxAttempts claims without committed progress before a backfill fails, 1 to 1000; default 10
     * @param contentionBudget contention and connection failures without committed progress before a backfill fails; default 100
     * @param barrierTimeout how long the start barrier may wait before a backfill is blocked; default 5 min
     * @param validationTimeout longest that a validation may take; default 5 min
     * @param closeTimeout how long a shutdown waits for workers; default 8 s
     * @param workerSocketTimeout how long a worker waits for an answer of the server; default 20 s
     * @param operatorTimeout how long an operator's call waits for the server; default 8 s
     * @param batchSizeCap caps every definition's batch size in this process; never raises one
     * @param fusedCommit whether fence and COMMIT travel in one flush; default true
     * @param preparedStatements whether engine statements may be prepared on the server; default true, false behind PgBouncer below 1.21
     */
    record Engine(
            @Nullable Integer workers,
            @Nullable Duration lease,
            @Nullable Duration transactionTimeout,
            @Nullable Duration statementTimeout,
            @Nullable Duration lockTimeout,
            @Nullable Duration idleInTransactionTimeout,
            @Nullable Duration poll,
            @Nullable Duration retryBase,
            @Nullable Duration retryCap,
            @Nullable Integer maxAttempts,
            @Nullable Integer contentionBudget,
            @Nullable Duration barrierTimeout,
            @Nullable Duration validationTimeout,
            @Nullable Duration closeTimeout,
            @Nullable Duration workerSocketTimeout,
            @Nullable Duration operatorTimeout,
            @Nullable Integer batchSizeCap,
            @Nullable Boolean fusedCommit,
            @Nullable Boolean preparedStatements) {}

    /**
     * The engine's own pool.
     *
     * @param name its name in logs and metrics
     * @param size most connections; default workers + 4
     */
    record Pool(
            @DefaultValue("backfill") String name, @Nullable Integer size) {}

    /**
     * The operators' HTTP API and console, on the management port.
     *
     * @param enabled whether they are served
     * @param path where, below the management port's own context path
     * @param tokens bearer tokens by operator name; 32 random bytes each, as hex
     * @param role role of the application's own login that makes a user an operator; needs CSRF protection in front. None if left out
     */
    record Admin(
            @DefaultValue("false") boolean enabled,
            @DefaultValue("/admin/backfills") String path,
            @DefaultValue Map<String, String> tokens,
            @Nullable String role) {}
}
