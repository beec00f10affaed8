package dev.backfill.postgres.conformance;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Keys;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.FaultyConnections;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.sql.PreparedStatement;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * What the conformance cases stand on: twenty rows whose repair counts how often it touched each, so that a row repaired twice
 * shows, and an engine over connections that fail on demand.
 */
@PostgresTest
abstract class Case {

    static final BackfillId ID = BackfillId.of("items.counted.v1");
    static final int ROWS = 20;
    static final int BATCH = 5;

    final TestDatabase db;
    final FaultyConnections faults;
    private final List<BackfillHarness> opened = new ArrayList<>();

    Case(TestDatabase db) {
        this.db = db;
        this.faults = FaultyConnections.over(db);
    }

    @BeforeEach
    final void fresh_rows_and_no_backfill() {
        db.execute(
                "DROP TABLE IF EXISTS items; CREATE TABLE items (id bigint PRIMARY KEY, hits int NOT NULL DEFAULT 0)");
        db.execute("INSERT INTO items SELECT generate_series(1, ?)", ROWS);
        if (db.queryText("SELECT to_regclass('backfill')") != null) {
            db.execute(
                    "TRUNCATE backfill, backfill_definition, backfill_validation, backfill_request, backfill_audit, backfill_pace,"
                            + " backfill_family");
        }
    }

    @AfterEach
    final void close_what_was_opened() {
        faults.heal();
        opened.forEach(BackfillHarness::close);
    }

    static BackfillDefinition.Builder<Long> items() {
        return items(ID.value());
    }

    static BackfillDefinition.Builder<Long> items(String id) {
        return Backfill.define(id).over("items", Keys.bigint("id")).batchSize(BATCH);
    }

    /**
     * Increments, so that nothing but the engine keeps a row from being repaired twice. Own code, so that its work is done before
     * the fence is sent.
     */
    static BackfillDefinition<Long> counted() {
        return items().repair((batch, tx) -> {
                    try (PreparedStatement statement =
                            tx.connection().prepareStatement("UPDATE items SET hits = hits + 1 WHERE id = ANY (?)")) {
                        statement.setArray(
                                1,
                                tx.connection()
                                        .createArrayOf("bigint", batch.keys().toArray()));
                        return statement.executeUpdate();
                    }
                })
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
    }

    BackfillHarness open(BackfillDefinition<?>... definitions) {
        return kept(BackfillHarness.over(db)
                .definitions(definitions)
                .connections(faults)
                .open());
    }

    BackfillHarness kept(BackfillHarness harness) {
        opened.add(harness);
        return harness;
    }

    /** An engine that has started the counted backfill. */
    BackfillHarness started() {
        BackfillHarness harness = open(counted());
        harness.start(ID);
        return harness;
    }

    /** A worker that has committed one batch and holds the claim. */
    static HarnessWorker atWork(BackfillHarness harness) {
        HarnessWorker worker = harness.worker("a");
        assertThat(step(worker)).isInstanceOf(StepOutcome.Committed.class);
        return worker;
    }

    /** A step that is none of the waits for the start barrier. */
    static StepOutcome step(HarnessWorker worker) {
        List<StepOutcome> last = new ArrayList<>();
        Eventually.until("the start barrier lets the backfill begin", () -> {
            last.add(worker.step());
            return !(last.get(last.size() - 1) instanceof StepOutcome.Waits);
        });
        return last.get(last.size() - 1);
    }

    /** How often rows were repaired, all together. */
    long hits() {
        return db.queryLong("SELECT sum(hits) FROM items");
    }

    String column(String name) {
        return db.queryText("SELECT " + name + "::text FROM backfill WHERE id = ?", ID.value());
    }

    BackfillState state() {
        return BackfillState.ofWireName(column("state"));
    }

    long generation() {
        return Long.parseLong(column("generation"));
    }

    /** Every row was repaired once, and the row is completed. */
    void assertEachRowOnce() {
        assertThat(db.queryTexts("SELECT DISTINCT hits FROM items")).containsExactly("1");
        assertThat(state()).isEqualTo(BackfillState.COMPLETED);
    }
}
