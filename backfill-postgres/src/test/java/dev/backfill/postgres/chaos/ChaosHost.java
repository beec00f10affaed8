package dev.backfill.postgres.chaos;

import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import dev.backfill.host.SchemaMode;
import dev.backfill.postgres.PostgresBackfills;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import org.postgresql.ds.PGSimpleDataSource;

/** A host process that is there to be killed: URL, name, number of waves, lease and idle timeout in milliseconds, its parent. */
final class ChaosHost {

    private ChaosHost() {}

    @SuppressWarnings("FutureReturnValueIgnored") // Nobody is left to tell when the parent is gone.
    public static void main(String[] arguments) throws InterruptedException {
        // Whoever began the chaos may die, too, and may have died already.
        ProcessHandle.of(Long.parseLong(arguments[5]))
                .orElseThrow()
                .onExit()
                .thenRun(() -> Runtime.getRuntime().halt(1));
        PGSimpleDataSource source = new PGSimpleDataSource();
        source.setUrl(arguments[0]);
        source.setConnectTimeout(2);
        EngineOptions options = EngineOptions.builder()
                .lease(Duration.ofMillis(Long.parseLong(arguments[3])))
                .transactionTimeout(Duration.ofMillis(500))
                .statementTimeout(Duration.ofMillis(400))
                .lockTimeout(Duration.ofMillis(200))
                .idleInTransactionTimeout(Duration.ofMillis(Long.parseLong(arguments[4])))
                .workerSocketTimeout(Duration.ofSeconds(2))
                .poll(Duration.ofMillis(50))
                .retryBase(Duration.ofMillis(50))
                .retryCap(Duration.ofMillis(500))
                .maxAttempts(1000)
                .contentionBudget(100_000)
                .build();
        Backfills backfills = PostgresBackfills.on(source)
                .definitions(Waves.first(Integer.parseInt(arguments[2])))
                .schema(SchemaMode.VERIFY)
                .processName(arguments[1])
                .options(options)
                .startup();
        Runtime.getRuntime().addShutdownHook(new Thread(backfills::close, "chaos-close"));
        System.out.println("up");
        new CountDownLatch(1).await();
    }
}
