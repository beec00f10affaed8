package dev.backfill.postgres.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Repair;
import dev.backfill.UpdateRepair;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.spi.BackfillEvent;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import io.micrometer.common.KeyValue;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.Observation;
import io.micrometer.observation.ObservationHandler;
import io.micrometer.observation.ObservationRegistry;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** A secret planted in rows, errors and SQL shows in no log line, metric, span, event, diagnostic or audit record (AU-5, OB-2). */
@PostgresTest
class SecretsIT {

    private static final String SECRET = "hunter2";

    private final TestDatabase db;
    private final SimpleMeterRegistry meters = new SimpleMeterRegistry();
    private final Spans spans = new Spans();
    private final Heard heard = new Heard();

    SecretsIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void fresh() {
        Ledgers.fresh(db, 10);
        db.execute("update ledgers set secret = ?", SECRET);
        db.execute("create unique index ledgers_once on ledgers (hits, secret) where hits > 1");
    }

    @Test
    void a_secret_shows_nowhere() {
        BackfillDefinition<?>[] definitions = definitions();
        ObservedBackfills observed = ObservedBackfills.in(spans.registry());
        try (Logged logged = new Logged();
                BackfillHarness harness = BackfillHarness.over(db)
                        .definitions(definitions)
                        .listener(MicrometerBackfills.in(meters))
                        .listener(observed)
                        .listener(heard)
                        .open()) {
            for (BackfillDefinition<?> definition : definitions) {
                springs(harness, observed, definition);
            }
            heard.await(BackfillEvent.Kind.OPERATOR_ACTION, 3 * definitions.length);

            nothingShows(logged);
            for (BackfillDefinition<?> definition : definitions) {
                assertThat(harness.show(definition.id()).toString()).doesNotContain(SECRET);
            }
            // The traps were sprung: each failed in its own way, and the one that is no SQL was refused at the start.
            assertThat(db.queryTexts("select distinct failure_sql_state from backfill order by 1"))
                    .contains("22P02", "23505", "XX001");
            assertThat(db.queryText("select state from backfill where id = 'ledgers.syntax.v1'"))
                    .isEqualTo("pending");
        }
    }

    private static BackfillDefinition<?>[] definitions() {
        BackfillId cast = BackfillId.of("ledgers.cast.v1");
        BackfillId unique = BackfillId.of("ledgers.unique.v1");
        BackfillId thrown = BackfillId.of("ledgers.thrown.v1");
        BackfillId syntax = BackfillId.of("ledgers.syntax.v1");
        BackfillId proof = BackfillId.of("ledgers.proof.v1");
        return new BackfillDefinition<?>[] {
            set(cast, Repair.update().set("hits", "secret::int").where("'" + SECRET + "' <> ''")),
            set(unique, Repair.update().set("hits", "7").where("true")),
            Ledgers.counting(thrown.value(), 4, (batch, tx) -> {
                throw new IllegalStateException("row " + SECRET, new SQLException("detail " + SECRET, "XX001"));
            }),
            set(
                    syntax,
                    Repair.update()
                            .set("hits", "no_such_function('" + SECRET + "')")
                            .where("true")),
            Ledgers.over(proof.value())
                    .repair((batch, tx) -> 0)
                    .validate(Validation.noRowMatches("secret = '" + SECRET + "' and secret::int > 0"))
                    .build()
        };
    }

    private static void springs(BackfillHarness harness, ObservedBackfills observed, BackfillDefinition<?> definition) {
        observed.observing(harness.operations())
                .start(BackfillHarness.request(definition.id(), BackfillHarness.newRequestId()));
        try (var worker = harness.worker("a")) {
            for (int i = 0; i < 6; i++) {
                assertThat(worker.step()).isNotInstanceOf(StepOutcome.Completed.class);
                harness.clearRetryDelay(definition.id());
            }
        }
        observed.observing(harness.operations())
                .validate(BackfillHarness.request(definition.id(), BackfillHarness.newRequestId()));
        harness.pause(definition.id());
    }

    private void nothingShows(Logged logged) {
        assertThat(logged.all()).hasSizeGreaterThan(20);
        assertThat(logged.all().stream().map(Logged::everything)).noneMatch(line -> line.contains(SECRET));
        assertThat(meters.getMeters()).noneMatch(m -> m.getId().toString().contains(SECRET));
        assertThat(spans.all()).isNotEmpty().noneMatch(span -> span.contains(SECRET));
        assertThat(heard.all()).noneMatch(event -> event.toString().contains(SECRET));
        assertThat(db.queryLong("select count(*) from backfill as b where b::text like ?", "%" + SECRET + "%"))
                .isZero();
        assertThat(db.queryLong("select count(*) from backfill_audit as a where a::text like ?", "%" + SECRET + "%"))
                .isZero();
        assertThat(db.queryLong(
                        "select count(*) from backfill_validation as v where v::text like ?", "%" + SECRET + "%"))
                .isZero();
    }

    private static BackfillDefinition<Long> set(BackfillId id, UpdateRepair repair) {
        return Ledgers.over(id.value())
                .batchSize(4)
                .repair(repair)
                .validate(Validation.noRowMatches("false"))
                .build();
    }

    /** Everything that observations carry. */
    static final class Spans implements ObservationHandler<Observation.Context> {

        private final List<String> ended = new ArrayList<>();
        private final ObservationRegistry registry = ObservationRegistry.create();

        Spans() {
            registry.observationConfig().observationHandler(this);
        }

        ObservationRegistry registry() {
            return registry;
        }

        synchronized List<String> all() {
            return List.copyOf(ended);
        }

        @Override
        public synchronized void onStop(Observation.Context context) {
            List<String> values = Stream.concat(
                            context.getLowCardinalityKeyValues().stream(),
                            context.getHighCardinalityKeyValues().stream())
                    .map(Spans::pair)
                    .sorted()
                    .toList();
            ended.add(context.getName() + " " + values + " " + context.getError());
        }

        private static String pair(KeyValue value) {
            return value.getKey() + "=" + value.getValue();
        }

        @Override
        public boolean supportsContext(Observation.Context context) {
            return true;
        }
    }
}
