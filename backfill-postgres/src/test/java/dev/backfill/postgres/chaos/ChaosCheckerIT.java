package dev.backfill.postgres.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.host.StepOutcome;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** The checker of the chaos run sees each breach that it is there for, and none in an honest run. */
@PostgresTest
class ChaosCheckerIT {

    private static final int ROWS = 200;

    private final TestDatabase db;
    private BackfillHarness harness;
    private History history;

    ChaosCheckerIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void a_claim_and_a_batch() {
        db.clear();
        db.execute("CREATE TABLE chaos (id bigint PRIMARY KEY, hits int, touched int NOT NULL DEFAULT 0)");
        db.execute("INSERT INTO chaos SELECT g, 0 FROM generate_series(1, ?) g", ROWS);
        harness = BackfillHarness.over(db)
                .definitions(Waves.first(1).toArray(new BackfillDefinition<?>[0]))
                .open();
        history = History.of(db);
        harness.start(Waves.id(1));
        HarnessWorker worker = harness.worker("a");
        assertThat(worker.step()).isInstanceOf(StepOutcome.Committed.class);
        worker.vanish();
    }

    @AfterEach
    void close() {
        harness.close();
    }

    @Test
    void an_honest_run_with_a_takeover_and_a_pause_shows_nothing() {
        harness.expireLease(Waves.id(1));
        harness.pause(Waves.id(1));
        harness.resume(Waves.id(1));
        harness.runToCompletion(Waves.id(1));
        assertThat(history.violations()).isEmpty();
        assertThat(history.batches()).isEqualTo(ROWS / 50);
        assertThat(history.acquisitions()).isGreaterThanOrEqualTo(2);
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "a row was deleted | DELETE FROM backfill",
                "the generation fell | UPDATE backfill SET generation = generation - 1",
                "an owner came without a new generation | UPDATE backfill SET claim_token = gen_random_uuid()",
                "two owners in one generation | UPDATE backfill SET claim_token = gen_random_uuid()",
                "the checkpoint went back | UPDATE backfill SET checkpoint = '{7}', batches = batches + 1",
                "the checkpoint is beyond the bound | UPDATE backfill SET checkpoint = '{201}', batches = batches + 1",
                "a checkpoint moved without its batch | UPDATE backfill SET checkpoint = '{100}'",
                "the checkpoint moved without its owner | UPDATE backfill SET claim_token = NULL, claim_expires_at = NULL;"
                        + " UPDATE backfill SET checkpoint = '{100}', batches = batches + 1",
                "the bound changed | UPDATE backfill SET bound = '{199}'",
                "no way leads there | UPDATE backfill SET state = 'completed', completed_at = now(), claim_token = NULL,"
                        + " claim_expires_at = NULL",
                "a completed row changed | UPDATE backfill SET state = 'completed', completed_at = now(), claim_token = NULL,"
                        + " claim_expires_at = NULL; UPDATE backfill SET generation = generation + 1",
                "the audit and the row disagree | UPDATE backfill SET state = 'paused', claim_token = NULL, claim_expires_at = NULL"
            })
    void a_breach_is_seen_and_named(String rule, String breach) {
        db.execute(breach);
        assertThat(history.violations()).anyMatch(violation -> violation.startsWith(rule));
    }
}
