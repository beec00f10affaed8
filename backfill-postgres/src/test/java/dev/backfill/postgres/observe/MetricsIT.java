package dev.backfill.postgres.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.BlockedException;
import dev.backfill.Pacing;
import dev.backfill.RetryableException;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.Authority;
import dev.backfill.spi.BackfillEvent;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.Fault;
import dev.backfill.testkit.FaultPoint;
import dev.backfill.testkit.FaultyConnections;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import io.micrometer.core.instrument.Meter;
import io.micrometer.core.instrument.Tag;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import java.sql.SQLTransientConnectionException;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Counters that agree with the rows and the audit, gauges that know what they don't know, labels that never grow. */
@PostgresTest
class MetricsIT {

    private final TestDatabase db;
    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final MicrometerBackfills metrics = MicrometerBackfills.in(registry);
    private final Heard heard = new Heard();

    MetricsIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void fresh() {
        Ledgers.fresh(db, 40);
    }

    private BackfillHarness harness(BackfillDefinition<?>... definitions) {
        return BackfillHarness.over(db)
                .definitions(definitions)
                .listener(metrics)
                .listener(heard)
                .open();
    }

    private double value(String name, String... tags) {
        return registry.get(name).tags(tags).meters().stream()
                .mapToDouble(meter -> meter.measure().iterator().next().getValue())
                .sum();
    }

    /** Batches that were tried and failed, crashes, takeovers, a lost acknowledgement, operators, three endings. */
    @Test
    void after_a_history_with_crashes_and_takeovers_every_counter_agrees_with_rows_and_audit()
            throws Exception { // OB-1, OB-3
        FaultyConnections links = FaultyConnections.over(db);
        AtomicReference<@Nullable Exception> next = new AtomicReference<>();
        BackfillDefinition<Long> definition = Ledgers.counting(3, (batch, tx) -> {
            Exception thrown = next.getAndSet(null);
            if (thrown != null) {
                throw thrown;
            }
            return 0;
        });
        BackfillId id = Ledgers.ID;
        try (BackfillHarness harness = BackfillHarness.over(db)
                .connections(links)
                .definitions(definition)
                .listener(metrics)
                .listener(heard)
                .open()) {
            history(harness, links, next);
            agreesWithTheRow(harness.row(id));
            agreesWithTheAudit();
        }
    }

    private static void history(
            BackfillHarness harness, FaultyConnections links, AtomicReference<@Nullable Exception> next) {
        BackfillId id = Ledgers.ID;
        harness.start(id);
        harness.start(id);
        var first = harness.worker("first");
        first.step();
        first.vanish();
        harness.expireLease(id);
        var second = harness.worker("second");
        second.step();
        next.set(new RetryableException("later"));
        second.step();
        harness.clearRetryDelay(id);
        second.step();
        links.after(FaultPoint.tagged("fence"), Fault.cut());
        assertThat(second.step()).isInstanceOf(StepOutcome.Committed.class);
        links.assertAllStruck();
        next.set(new BlockedException("a prerequisite"));
        assertThat(second.step()).isInstanceOf(StepOutcome.Ended.class);
        harness.retry(id);
        next.set(new RetryableException("once too often"));
        harness.tamper(id, "attempts", "9");
        assertThat(second.step()).isInstanceOf(StepOutcome.Ended.class);
        harness.retry(id);
        second.step();
        harness.pause(id);
        assertThat(second.step()).isInstanceOf(StepOutcome.Stopped.class);
        harness.resume(id);
        harness.validate(id);
        second.close();
        harness.runToCompletion(id);
        harness.validate(id);
    }

    private void agreesWithTheRow(Map<String, @Nullable String> row) {
        assertThat(value("backfill.batches")).isEqualTo(number(row, "batches"));
        assertThat(value("backfill.rows.scanned")).isEqualTo(number(row, "rows_scanned"));
        assertThat(value("backfill.rows.changed")).isEqualTo(number(row, "rows_changed"));
        assertThat(value("backfill.commits.settled", "verdict", "landed")).isEqualTo(1);
        // Each acquisition, settlement and transition raised the generation by one.
        double raised = value("backfill.claims.acquired")
                + value("backfill.commits.settled", "verdict", "landed")
                + audited("start", "applied")
                + audited("pause", "applied")
                + audited("resume", "applied")
                + audited("retry", "applied")
                + audited("block", "applied")
                + audited("fail", "applied");
        assertThat(number(row, "generation")).isEqualTo(raised);
        assertThat(value("backfill.claims.acquired", "how", "takeover")).isEqualTo(1);
        assertThat(value("backfill.claims.stopped", "state", "paused")).isEqualTo(1);
        assertThat(value("backfill.retries", "code", "retry-requested")).isEqualTo(1);
        assertThat(value("backfill.blocked")).isEqualTo(audited("block", "applied"));
        assertThat(value("backfill.failed")).isEqualTo(audited("fail", "applied"));
    }

    private void agreesWithTheAudit() {
        for (String action : List.of("start", "pause", "resume", "retry")) {
            for (String outcome : List.of("applied", "converged", "illegal_transition")) {
                assertThat(value("backfill.operator.actions", "action", action, "outcome", outcome))
                        .as(action + "." + outcome)
                        .isEqualTo(audited(action, outcome));
            }
        }
        for (String outcome : List.of("success", "failure")) {
            assertThat(value("backfill.validation.duration", "by", "operator", "outcome", outcome))
                    .isEqualTo(audited("validate", outcome));
        }
        assertThat(value("backfill.validation.duration", "by", "engine", "outcome", "success"))
                .isEqualTo(1);
        assertThat(value("backfill.events", "kind", "completed")).isEqualTo(audited("complete", "applied"));
    }

    private static double number(Map<String, @Nullable String> row, String column) {
        return Double.parseDouble(String.valueOf(row.get(column)));
    }

    private double audited(String action, String outcome) {
        return db.queryLong("select count(*) from backfill_audit where action = ? and outcome = ?", action, outcome);
    }

    @Test
    void a_throttle_is_counted_by_what_throttled_once_for_as_long_as_it_lasts() { // OB-1, OB-3
        BackfillDefinition<Long> paced = Ledgers.over(Ledgers.ID.value())
                .batchSize(2)
                .pacing(Pacing.unlimited().rowsPerSecond(1))
                .repair((batch, tx) -> 0)
                .validate(Validation.noRowMatches("false"))
                .build();
        try (BackfillHarness harness = harness(paced)) {
            harness.start(Ledgers.ID);
            try (HarnessWorker worker = harness.worker("a")) {
                Eventually.until("it rests", () -> worker.step() instanceof StepOutcome.Waits);
                worker.step();
                heard.await(BackfillEvent.Kind.THROTTLED, 1);
            }
            assertThat(value("backfill.throttles", "signal", "pace")).isEqualTo(1);
            assertThat(value("backfill.throttles")).isEqualTo(1);
        }
    }

    @Test
    void ten_thousand_ids_add_no_series_and_no_label_is_an_id() { // OB-2
        try (BackfillHarness harness = harness(Ledgers.counting(5, (batch, tx) -> 0))) {
            metrics.watch(harness.backfills(), BackfillHarness.OPERATOR);
            Set<Meter.Id> before = ids();
            db.execute("insert into backfill (id) select 'many.' || g from generate_series(1, 10000) as g");
            db.execute("update backfill set state = 'running', bound = '{1}', key_codec = 'v1:bigint',"
                    + " bound_captured_at = now(), started_at = now() where id like 'many.%'");
            for (int i = 0; i < 10_000; i++) {
                for (BackfillEvent.Kind kind : BackfillEvent.Kind.values()) {
                    metrics.on(BackfillEvent.of(kind, BackfillId.of("many." + i), i, "code-" + i)
                            .by("owner-" + i)
                            .answering("request-" + i));
                }
            }
            assertThat(value("backfill.backfills", "state", "running")).isEqualTo(10_000);
            assertThat(value("backfill.waiting", "reason", "unknown_here")).isEqualTo(10_000);
            assertThat(ids()).isEqualTo(before);
            assertThat(before.stream()
                            .flatMap(meter -> meter.getTags().stream())
                            .map(Tag::getValue))
                    .noneMatch(value -> value.contains("many") || value.contains("ledgers"));
        }
    }

    private Set<Meter.Id> ids() {
        return registry.getMeters().stream().map(Meter::getId).collect(Collectors.toSet());
    }

    @Test
    void names_and_units_follow_the_conventions() {
        try (BackfillHarness harness = harness()) {
            metrics.watch(harness.backfills(), BackfillHarness.OPERATOR);
            assertThat(ids())
                    .allMatch(meter -> meter.getName().equals(meter.getName().toLowerCase(Locale.ROOT)))
                    .allMatch(meter -> meter.getName().matches("backfill(\\.[a-z]+)+"))
                    .allMatch(meter -> meter.getDescription() != null
                            && !meter.getDescription().isBlank());
        }
    }

    @Test
    void what_can_not_be_read_is_not_a_number_and_never_zero() { // RM-2, OB-3
        AtomicBoolean down = new AtomicBoolean();
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Ledgers.counting(5, (batch, tx) -> 0))
                .requiredAtStartup(Ledgers.ID.value())
                .connections(() -> {
                    if (down.get()) {
                        throw new SQLTransientConnectionException("the database is down", "08001");
                    }
                    return db.get();
                })
                .listener(metrics)
                .open()) {
            metrics.watch(harness.backfills(), BackfillHarness.OPERATOR);
            assertThat(value("backfill.backfills", "state", "running")).isEqualTo(1);
            assertThat(value("backfill.required.incomplete")).isEqualTo(1);
            assertThat(value("backfill.gate.open")).isZero();
            assertThat(value("backfill.ready")).isZero();
            down.set(true);
            Eventually.until("the read is old", () -> value("backfill.database.readable") == 0);
            Eventually.until("readiness is old", () -> Double.isNaN(value("backfill.ready")));
            for (String gauge : List.of(
                    "backfill.backfills",
                    "backfill.waiting",
                    "backfill.claims",
                    "backfill.gate.open",
                    "backfill.required.incomplete",
                    "backfill.progress.age")) {
                assertThat(registry.get(gauge).gauges()).as(gauge).isNotEmpty().allMatch(g -> Double.isNaN(g.value()));
            }
            down.set(false);
            Eventually.until("it is back", () -> value("backfill.database.readable") == 1);
            assertThat(value("backfill.backfills", "state", "running")).isEqualTo(1);
        }
    }

    @Test
    void gauges_need_the_capability_to_read() { // AU-1
        try (BackfillHarness harness = harness(Ledgers.counting(5, (batch, tx) -> 0))) {
            metrics.watch(harness.backfills(), Authority.host("metrics-without-a-right"));
            assertThat(value("backfill.backfills", "state", "pending")).isNaN();
        }
    }
}
