package dev.backfill.postgres.observe;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.spi.ILoggingEvent;
import dev.backfill.BackfillException;
import dev.backfill.host.Backfills;
import dev.backfill.host.SchemaMode;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.postgres.PostgresBackfills;
import dev.backfill.spi.ConnectionSource;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What the log says while the database is away: each thing once, and never what the driver says about credentials. */
@PostgresTest
class OutageLogIT {

    private static final String SECRET = "hunter2";
    private final TestDatabase db;
    private final AtomicBoolean away = new AtomicBoolean();
    private final AtomicInteger refusals = new AtomicInteger();

    OutageLogIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void fresh() {
        Ledgers.fresh(db, 10);
    }

    private ConnectionSource source() {
        ConnectionSource real = db;
        return () -> {
            if (away.get()) {
                refusals.incrementAndGet();
                String url = "jdbc:postgresql://app:" + SECRET + "@127.0.0.1/relay?password=" + SECRET;
                throw new SQLException(url + " refused", "08001");
            }
            return real.get();
        };
    }

    private static List<ILoggingEvent> warnings(Logged logged) {
        return logged.all().stream()
                .filter(line ->
                        line.getLevel() == Level.WARN && line.getMessage().startsWith("A step came to nothing"))
                .toList();
    }

    private void refusedAgain(int times) {
        int before = refusals.get();
        Eventually.until("it was asked again and again", () -> refusals.get() >= before + times);
    }

    @Test
    void an_outage_is_told_once_by_each_worker_for_as_long_as_it_lasts() { // OB-1
        try (Logged logged = new Logged();
                BackfillHarness harness = BackfillHarness.over(db)
                        .connections(source())
                        .definitions(Ledgers.counting(3, (batch, tx) -> 0))
                        .options(o -> o.workers(1).poll(Duration.ofMillis(20)))
                        .open()) {
            away.set(true);
            refusedAgain(20);
            assertThat(warnings(logged)).hasSize(1);
            away.set(false);
            harness.start(Ledgers.ID);
            Eventually.until("it recovers", () -> harness.state(Ledgers.ID) == BackfillState.COMPLETED);
            away.set(true);
            refusedAgain(20);
            assertThat(warnings(logged)).as("the next outage is news again").hasSize(2);
            away.set(false);
        }
    }

    @Test
    void a_driver_that_tells_the_connection_string_is_not_quoted_anywhere() { // AU-5
        away.set(true);
        try (Logged logged = new Logged();
                Backfills backfills = PostgresBackfills.on(source())
                        .schema(SchemaMode.MIGRATE)
                        .definitions(List.of(Ledgers.counting(3, (batch, tx) -> 0)))
                        .operators((authority, capability) -> true)
                        .startup()) {
            refusedAgain(2);
            assertThat(backfills.readiness().toString()).doesNotContain(SECRET);
            assertThat(thrownBy(backfills::requireStarted)).isNotEmpty().doesNotContain(SECRET);
            assertThat(thrownBy(() -> backfills.operations().show(BackfillHarness.OPERATOR, Ledgers.ID)))
                    .isNotEmpty()
                    .doesNotContain(SECRET);
            away.set(false);
            Eventually.until(
                    "it boots", () -> thrownBy(backfills::requireStarted).isEmpty());
            away.set(true);
            refusedAgain(5);
            assertThatThrownBy(() -> backfills
                            .operations()
                            .start(BackfillHarness.request(Ledgers.ID, BackfillHarness.newRequestId())))
                    .isInstanceOf(BackfillUnavailableException.class)
                    .message()
                    .doesNotContain(SECRET);
            assertThat(logged.all())
                    .isNotEmpty()
                    .extracting(Logged::everything)
                    .noneMatch(line -> line.contains(SECRET));
            away.set(false);
        }
    }

    /** All that a caller who prints what was thrown would see; empty when nothing was. */
    private static String thrownBy(Runnable call) {
        try {
            call.run();
            return "";
        } catch (BackfillException e) {
            StringWriter text = new StringWriter();
            e.printStackTrace(new PrintWriter(text, true));
            return text.toString();
        }
    }
}
