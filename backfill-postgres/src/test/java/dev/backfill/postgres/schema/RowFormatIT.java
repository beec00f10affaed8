package dev.backfill.postgres.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.host.StepOutcome;
import dev.backfill.postgres.startup.Host;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The format that a row is written in, which decides who may claim it. */
@PostgresTest
class RowFormatIT {

    // As a library would claim that reads format 1 alone and knows no ranges.
    private static final String CLAIM = """
            UPDATE backfill SET generation = generation + 1, claim_token = gen_random_uuid(), claim_owner = 'plain',
              claimed_at = pg_catalog.clock_timestamp(),
              claim_expires_at = pg_catalog.clock_timestamp() + interval '30 seconds'
            WHERE state IN ('running', 'validating') AND contract = 1 AND id = ANY (?::text[])""";

    private final TestDatabase db;

    RowFormatIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void six_rows() {
        Host.items(db, 6);
    }

    @Test
    void a_library_without_ranges_leaves_a_part_of_a_family_alone_even_under_a_definition_of_the_same_id() { // ID-5,
        // SC-3
        var family = Host.doubling(Host.ID.value()).inRanges(2);
        var second = family.parts().get(1).id();
        try (BackfillHarness harness =
                BackfillHarness.over(db).definitions(family).open()) {
            family.forEach(part -> harness.start(part.id()));
            Map<String, String> before = harness.row(second);
            assertThat(db.update(CLAIM, "{" + family.parts().get(0).id() + "," + second + "}"))
                    .isZero();
            assertThat(harness.row(second)).isEqualTo(before);
            assertThat(harness.worker("a").step()).isInstanceOf(StepOutcome.Committed.class);
        }
    }
}
