package dev.backfill.postgres.observe;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.operate.Evidence;
import dev.backfill.operate.Verdicts;
import dev.backfill.operate.Verdicts.Verdict.Answer;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** What stands behind a backfill and what may be done with it, from PostgreSQL (RM-4). */
@PostgresTest
class EvidenceIT {

    private final TestDatabase db;

    EvidenceIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void fresh() {
        Ledgers.fresh(db, 10);
    }

    @Test
    void verdicts_follow_the_life_of_a_backfill() { // RM-4
        try (BackfillHarness harness = BackfillHarness.on(db, Ledgers.counting(5, (batch, tx) -> 0))) {
            assertThat(verdicts(harness).mayStart().answer()).isEqualTo(Answer.YES);
            harness.start(Ledgers.ID);
            assertThat(verdicts(harness).mayStart().answer()).isEqualTo(Answer.NO);
            assertThat(verdicts(harness).mayContract().answer()).isEqualTo(Answer.NO);
            harness.runToCompletion(Ledgers.ID);
            assertThat(verdicts(harness).mayContract().answer()).isEqualTo(Answer.YES);
            assertThat(verdicts(harness).mayRemoveCode().answer()).isEqualTo(Answer.CANNOT_TELL);
            db.execute("UPDATE backfill_definition SET updated_at = now() - interval '12 minutes'");
            assertThat(verdicts(harness).mayRemoveCode().answer()).isEqualTo(Answer.YES);
        }
    }

    @Test
    void a_registration_leaves_its_time_to_the_minute_and_writes_no_more_often() { // RM-4
        try (BackfillHarness harness = BackfillHarness.on(db, Ledgers.counting(5, (batch, tx) -> 0))) {
            Evidence evidence = harness.operations().evidence(BackfillHarness.OPERATOR, Ledgers.ID);
            assertThat(evidence.table()).isEqualTo("ledgers");
            assertThat(evidence.server()).matches("\\d+\\.\\d+.*");
            assertThat(evidence.lastRegisteredAt()).isNotNull();
        }
        String version = db.queryText("SELECT xmin::text FROM backfill_definition WHERE id = ?", Ledgers.ID.value());
        BackfillHarness.on(db, Ledgers.counting(5, (batch, tx) -> 0)).close();
        assertThat(db.queryText("SELECT xmin::text FROM backfill_definition WHERE id = ?", Ledgers.ID.value()))
                .isEqualTo(version);
        db.execute("UPDATE backfill_definition SET updated_at = now() - interval '2 minutes'");
        BackfillHarness.on(db, Ledgers.counting(5, (batch, tx) -> 0)).close();
        assertThat(db.queryText(
                        "SELECT (updated_at > now() - interval '1 minute')::text FROM backfill_definition"
                                + " WHERE id = ?",
                        Ledgers.ID.value()))
                .isEqualTo("true");
    }

    private static Verdicts verdicts(BackfillHarness harness) {
        return harness.operations().verdicts(BackfillHarness.OPERATOR, Ledgers.ID);
    }
}
