package dev.backfill.postgres.kind;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.KeyType;
import dev.backfill.Repair;
import dev.backfill.TableName;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A walk over every row of a table, two at a time, and the checkpoints it left: what the order was can be seen in them.
 *
 * @param db the database
 * @param table the table, which has a column {@code hits}
 */
record KeyTable(TestDatabase db, TableName table) {

    static final BackfillId ID = BackfillId.of("keys.walk.v1");

    /** Hits every row once. */
    <K> BackfillDefinition<K> hitting(KeyType<K> key) {
        return Backfill.define(ID.value())
                .over(table, key)
                .batchSize(2)
                .repair(Repair.update().set("hits", "hits + 1").where("hits = 0"))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
    }

    /** Walks to completion and returns every checkpoint, as the row stored it. */
    List<String> walk(BackfillDefinition<?> definition) {
        List<String> checkpoints = new ArrayList<>();
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            assertThat(harness.start(ID)).isInstanceOf(dev.backfill.operate.ActionOutcome.Applied.class);
            HarnessWorker worker = harness.worker("a");
            StepOutcome step = worker.step();
            while (step instanceof StepOutcome.Committed) {
                checkpoints.add(harness.row(ID).get("checkpoint"));
                step = worker.step();
            }
            assertThat(step).isEqualTo(new StepOutcome.Completed(ID));
            assertThat(harness.state(ID)).isEqualTo(BackfillState.COMPLETED);
            assertThat(harness.row(ID).get("bound")).isEqualTo(checkpoints.get(checkpoints.size() - 1));
        }
        return checkpoints;
    }

    /** Walks, and expects the checkpoints to be every second key in PostgreSQL's order, and every row to be hit once. */
    void walksInOrder(KeyType<?> key, String keyTexts, String order) {
        List<String> all =
                db.queryTexts("select array[" + keyTexts + "]::text from " + table.quoted() + " order by " + order);
        List<String> seconds = new ArrayList<>();
        for (int i = 1; i < all.size(); i += 2) {
            seconds.add(all.get(i));
        }
        String last = all.get(all.size() - 1);
        List<String> checkpoints = walk(hitting(key));
        assertThat(checkpoints.subList(0, seconds.size())).isEqualTo(seconds);
        assertThat(checkpoints).endsWith(last);
        assertThat(db.queryLong("select count(*) from " + table.quoted() + " where hits = 1"))
                .isEqualTo(all.size());
    }

    static String quoted(@Nullable String text) {
        return text == null ? "null" : "'" + text.replace("'", "''") + "'";
    }
}
