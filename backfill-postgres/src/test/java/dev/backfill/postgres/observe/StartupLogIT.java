package dev.backfill.postgres.observe;

import static org.assertj.core.api.Assertions.assertThat;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.backfill.host.Backfills;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.Authority.Capability;
import dev.backfill.postgres.PostgresBackfills;
import dev.backfill.postgres.startup.Host;
import dev.backfill.spi.OperatorAuthorizer;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What startup tells an operator who reads the log only. */
@PostgresTest
class StartupLogIT {

    private final TestDatabase db;

    StartupLogIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void rows() {
        Host.items(db, 3);
    }

    private static List<ILoggingEvent> warnings(Logged logged, String beginning) {
        return logged.all().stream()
                .filter(line ->
                        line.getLevel() == Level.WARN && line.getMessage().startsWith(beginning))
                .toList();
    }

    @Test
    void a_required_backfill_that_can_not_be_started_is_logged_with_what_was_found_once_for_each_finding() { // CF-8
        db.execute("alter table items rename column doubled to later");
        try (Logged logged = new Logged();
                Backfills engine = Host.start(db, SchemaMode.MIGRATE, b -> b.requiredAtStartup(Host.ID.value()))) {
            Host.awaitStarted(engine);
            db.execute(
                    "alter table items rename column later to doubled; alter table items drop constraint items_pkey");
            Eventually.until(
                    "it is tried again and told anew",
                    () -> warnings(logged, "A required backfill").size() >= 2);
            List<String> told = warnings(logged, "A required backfill").stream()
                    .map(line -> {
                        var pairs = Logged.pairs(line);
                        return pairs.get("backfill") + " " + pairs.get("code") + ": " + pairs.get("findings");
                    })
                    .toList();
            assertThat(told)
                    .containsExactly(
                            Host.ID + " incompatible_schema: column_missing on items.doubled",
                            Host.ID + " preflight_failed: key_not_unique on items, key_not_indexed on items");
        }
    }

    @ParameterizedTest
    @CsvSource({"none, 1", "deny all, 0", "one, 0"})
    void an_engine_that_nobody_may_operate_says_so_unless_that_is_meant(String given, int lines) { // AU-1
        Backfills.Builder builder = PostgresBackfills.on(db)
                .definitions(Host.doubling(Host.ID.value()))
                .schema(SchemaMode.MIGRATE);
        if (!"none".equals(given)) {
            builder.operators("one".equals(given) ? (authority, capability) -> true : OperatorAuthorizer.denyAll());
        }
        try (Logged logged = new Logged();
                Backfills engine = builder.startup()) {
            Host.awaitStarted(engine);
            assertThat(warnings(logged, "Nobody may read or steer backfills")).hasSize(lines);
            assertThat(engine.operations().authorize(Host.OPERATOR, Capability.READ, "list", null, null))
                    .isEqualTo("one".equals(given));
        }
    }
}
