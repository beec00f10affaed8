package dev.backfill.postgres.schema;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.host.StepOutcome;
import dev.backfill.postgres.startup.Host;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The statements of the version before, as it sent them, on the schema of this one: they work, and leave its rows alone. */
@PostgresTest
class VersionBeforeIT {

    private static final String REGISTER = """
            INSERT INTO backfill (id) SELECT d.id FROM unnest(?::text[]) AS d (id)
            WHERE NOT EXISTS (SELECT 1 FROM backfill AS b WHERE b.id = d.id) ORDER BY d.id ON CONFLICT (id) DO NOTHING""";

    private static final String DESCRIBE = """
            INSERT INTO backfill_definition AS o (id, description, labels, table_name, key_codec, style, batch_size,
              with_write_path, library_version)
            SELECT d.id, 'old', '{}'::jsonb, 'items', 'v1:bigint', 'set', 10, false, '0.0' FROM unnest(?::text[]) AS d (id)
            ON CONFLICT (id) DO UPDATE SET description = excluded.description, labels = excluded.labels,
              table_name = excluded.table_name, key_codec = excluded.key_codec, style = excluded.style,
              batch_size = excluded.batch_size, with_write_path = excluded.with_write_path,
              library_version = excluded.library_version, updated_at = pg_catalog.now()""";

    private static final String START = """
            UPDATE backfill SET state = 'running', generation = generation + 1, key_codec = 'v1:bigint',
              bound = ?::text[], bound_empty = false, rows_estimated = 5,
              bound_captured_at = pg_catalog.clock_timestamp(), started_at = pg_catalog.clock_timestamp()
            WHERE id = ? AND state IN ('pending')""";

    private static final String CLAIM = """
            WITH c AS MATERIALIZED (SELECT id, claim_token AS former FROM backfill WHERE
              state IN ('running', 'validating')
              AND (claim_token IS NULL OR claim_expires_at <= pg_catalog.clock_timestamp())
              AND (next_attempt_at IS NULL OR next_attempt_at <= pg_catalog.clock_timestamp())
              AND contract = 1 AND id = ANY (?::text[]) AND attempts < 10
              ORDER BY next_attempt_at NULLS FIRST, id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
            UPDATE backfill AS b SET generation = b.generation + 1, claim_token = gen_random_uuid(), claim_owner = 'old',
              claimed_at = pg_catalog.clock_timestamp(),
              claim_expires_at = pg_catalog.clock_timestamp() + interval '30 seconds',
              attempts = b.attempts + 1, next_attempt_at = NULL, wait_reason = NULL, wait_detail = NULL, wait_since = NULL,
              barrier_since = coalesce(b.barrier_since, pg_catalog.clock_timestamp()),
              bound_xmax = coalesce(b.bound_xmax, pg_catalog.pg_current_xact_id()::text::bigint)
            FROM c WHERE b.id = c.id""";

    private static final String FENCE = """
            UPDATE backfill AS b SET checkpoint = ?::text[], batches = b.batches + 1, rows_scanned = b.rows_scanned + 2,
              attempts = 0, contended = 0, next_attempt_at = NULL, last_progress_at = pg_catalog.clock_timestamp(),
              claim_expires_at = pg_catalog.clock_timestamp() - interval '1 second'
            WHERE b.id = ? AND b.state = 'running' AND b.claim_owner = 'old'
              AND b.claim_expires_at > pg_catalog.clock_timestamp() AND b.checkpoint IS NULL
              AND (?::text[])[1]::bigint <= (b.bound)[1]::bigint""";

    private final TestDatabase db;

    VersionBeforeIT(TestDatabase db) {
        this.db = db;
    }

    @BeforeEach
    void six_rows() {
        Host.items(db, 6);
    }

    @Test
    void its_statements_work_and_this_version_takes_over_where_it_left_off() { // SC-3, SC-5, CL-5
        BackfillDefinition<Long> definition = Host.doubling(Host.ID.value());
        BackfillHarness.on(db).close();
        String ids = "{" + Host.ID + "}";
        assertThat(db.update(REGISTER, ids)).isEqualTo(1);
        assertThat(db.update(DESCRIBE, ids)).isEqualTo(1);
        assertThat(db.update(START, "{5}", Host.ID.value())).isEqualTo(1);
        assertThat(db.update(CLAIM, ids)).isEqualTo(1);
        db.execute("update items set doubled = -1 where id <= 2");
        assertThat(db.update(FENCE, "{2}", Host.ID.value(), "{2}")).isEqualTo(1);
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.runToCompletion(Host.ID);
        }
        assertThat(db.queryText("select string_agg(coalesce(doubled::text, '-'), ' ' order by id) from items"))
                .isEqualTo("-1 -1 6 8 10 -");
    }

    @Test
    void it_leaves_a_part_of_a_family_alone_even_under_a_definition_of_the_same_id() { // ID-5, SC-3
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
