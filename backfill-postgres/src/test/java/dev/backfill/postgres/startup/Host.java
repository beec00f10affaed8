package dev.backfill.postgres.startup;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import dev.backfill.host.Readiness;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.Authority;
import dev.backfill.postgres.PostgresBackfills;
import dev.backfill.postgres.internal.migrate.Migration;
import dev.backfill.postgres.internal.row.Registry;
import dev.backfill.postgres.internal.startup.Configuration;
import dev.backfill.postgres.internal.startup.EngineBackfills;
import dev.backfill.spi.ConnectionSource;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.TestDatabase;
import java.sql.DriverManager;
import java.time.Duration;
import java.util.List;
import java.util.function.Consumer;

/** A small host: one table, one repair, and engines as different processes and library versions would start them. */
public final class Host {

    /** The repair. */
    public static final BackfillId ID = BackfillId.of("items.doubled.v1");

    /** Who may do anything. */
    public static final Authority OPERATOR = Authority.operator("olga");

    private Host() {}

    /** A table with some rows to repair, in an otherwise empty database. */
    public static void items(TestDatabase db, int rows) {
        db.clear();
        db.execute("create table items (id bigint primary key, n int not null, doubled int)");
        db.execute("insert into items (id, n) select g, g from generate_series(1, " + rows + ") as g");
    }

    /** Doubles n. */
    public static BackfillDefinition<Long> doubling(String id) {
        return draft(id).build();
    }

    static BackfillDefinition.Builder<Long> draft(String id) {
        return Backfill.define(id)
                .over("items", Keys.bigint("id"))
                .batchSize(10)
                .repair(Repair.update().set("doubled", "n * 2").where("doubled IS NULL"))
                .validate(Validation.noRowMatches("doubled IS NULL"));
    }

    /** Quick options, with one worker. */
    public static EngineOptions.Builder quick() {
        return EngineOptions.builder()
                .poll(Duration.ofMillis(20))
                .retryBase(Duration.ofMillis(10))
                .retryCap(Duration.ofMillis(100))
                .closeTimeout(Duration.ofSeconds(4));
    }

    /** A lease that lapses soon, for claims whose owner could not say good-bye. */
    static EngineOptions.Builder shortLease() {
        return quick().lease(Duration.ofSeconds(5))
                .transactionTimeout(Duration.ofMillis(2500))
                .statementTimeout(Duration.ofMillis(2000))
                .workerSocketTimeout(Duration.ofSeconds(4));
    }

    /** An engine on a source of connections. */
    public static Backfills start(ConnectionSource source, SchemaMode mode, Consumer<Backfills.Builder> more) {
        Backfills.Builder builder = PostgresBackfills.on(source)
                .definitions(doubling(ID.value()))
                .schema(mode)
                .options(quick().build())
                .operators((authority, capability) -> true);
        more.accept(builder);
        return builder.startup();
    }

    /** An engine without workers, as a library with these migrations would start it. */
    public static Backfills ofVersion(ConnectionSource source, SchemaMode mode, List<Migration> steps) {
        return EngineBackfills.startup(
                new Configuration(
                        source,
                        new Registry(List.of(doubling(ID.value())), List.of()),
                        mode,
                        null,
                        quick().workers(0).build(),
                        (authority, capability) -> true,
                        null,
                        List.of(),
                        null,
                        "version-" + steps.size()),
                steps);
    }

    /** Plain connections to a URL, such as that of a fault proxy. */
    public static ConnectionSource source(String url) {
        return () -> DriverManager.getConnection(url + "&loginTimeout=2&connectTimeout=2");
    }

    /** Waits until startup is complete. */
    public static void awaitStarted(Backfills backfills) {
        Eventually.until("startup is complete", () -> {
            backfills.requireStarted();
            return true;
        });
    }

    /** Waits until readiness is open; long, because it is the work that takes its time. */
    public static void awaitOpen(Backfills backfills) {
        try {
            Eventually.within(Duration.ofMinutes(2))
                    .holds("readiness is open", () -> backfills.readiness().isOpen());
        } catch (AssertionError e) {
            throw new AssertionError("Never ready: " + backfills.readiness(), e);
        }
    }

    /** Waits for an input to have a status. */
    static void awaitDatabase(Backfills backfills, Readiness.Status status) {
        Eventually.until(
                "the database input is " + status,
                () -> backfills.readiness().database().status() == status);
    }

    /** The state in the row. */
    public static String state(TestDatabase db, BackfillId id) {
        return db.queryText("select state from backfill where id = ?", id.value());
    }

    static long startsAudited(TestDatabase db) {
        return db.queryLong(
                "select count(*) from backfill_audit where action = 'start' and authority = 'startup' and actor = 'startup'");
    }
}
