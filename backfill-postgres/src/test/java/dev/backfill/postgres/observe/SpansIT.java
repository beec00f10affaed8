package dev.backfill.postgres.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.RetryableException;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Spans for starts, batches, validations and operator actions, each ended, with codes and counts and nothing of a row. */
@PostgresTest
class SpansIT {

    private final TestDatabase db;
    private final SecretsIT.Spans spans = new SecretsIT.Spans();

    SpansIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void fresh() {
        Ledgers.fresh(db, 10);
    }

    private void awaitSpan(String... parts) {
        Eventually.until(
                "a span with " + String.join(", ", parts) + " in " + spans.all(),
                () -> spans.all().stream()
                        .anyMatch(span -> java.util.Arrays.stream(parts).allMatch(span::contains)));
    }

    @Test
    void a_run_makes_a_span_for_the_start_each_batch_and_the_validation() {
        AtomicBoolean fails = new AtomicBoolean(true);
        ObservedBackfills observed = ObservedBackfills.in(spans.registry());
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Ledgers.counting(4, (batch, tx) -> {
                    if (fails.getAndSet(false)) {
                        throw new RetryableException("later");
                    }
                    return 0;
                }))
                .listener(observed)
                .open()) {
            BackfillOperations operations = observed.observing(harness.operations());
            operations.start(BackfillHarness.request(Ledgers.ID, "r-1"));
            harness.runToCompletion(Ledgers.ID);
            operations.validate(BackfillHarness.request(Ledgers.ID, "r-2"));
            operations.pause(BackfillHarness.request(Ledgers.ID, "r-3"));

            awaitSpan("backfill.action ", "action=start", "outcome=applied", "backfill.request_id=r-1");
            awaitSpan("backfill.batch ", "outcome=retry_scheduled", "code=retry-requested");
            awaitSpan(
                    "backfill.batch ",
                    "outcome=batch_committed",
                    "backfill.rows.scanned=4",
                    "backfill.id=" + Ledgers.ID);
            awaitSpan("backfill.validation ", "outcome=validated", "code=success");
            awaitSpan("backfill.action ", "action=validate", "outcome=success");
            awaitSpan("backfill.action ", "action=pause", "outcome=illegal_transition");
            // One for the failed batch, three for the committed ones.
            assertThat(spans.all().stream().filter(span -> span.startsWith("backfill.batch ")))
                    .hasSize(4);
        }
    }

    @Test
    void the_automatic_start_has_a_span_too() {
        try (BackfillHarness harness = BackfillHarness.over(db)
                .definitions(Ledgers.counting(4, (batch, tx) -> 0))
                .requiredAtStartup(Ledgers.ID.value())
                .listener(ObservedBackfills.in(spans.registry()))
                .open()) {
            awaitSpan("backfill.action ", "action=start", "outcome=applied");
            assertThat(harness.worker("a").step()).isInstanceOf(StepOutcome.Committed.class);
        }
    }

    @Test
    void without_a_listener_there_is_none() {
        try (BackfillHarness harness = BackfillHarness.on(db, Ledgers.counting(4, (batch, tx) -> 0))) {
            harness.runToCompletion(Ledgers.ID);
            assertThat(spans.all()).isEmpty();
        }
    }
}
