package dev.backfill.postgres.proof;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.RepairTransaction;
import dev.backfill.Validation;
import dev.backfill.host.StepOutcome;
import dev.backfill.testkit.HarnessWorker;
import dev.backfill.testkit.TestDatabase;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;

/** Rows that count how often each was repaired: not idempotent by nature, so that a batch that runs twice or never shows. */
final class Counters {

    static final BackfillId ID = BackfillId.of("counters.hits.v1");

    private Counters() {}

    /** An empty database with rows 1 to n, none of them repaired. */
    static void fresh(TestDatabase db, int rows) {
        // The library's tables stay, emptied: migrating anew for each test would take most of its time.
        if (db.queryText("select to_regclass('backfill')") != null) {
            db.execute(
                    "delete from backfill; delete from backfill_definition; delete from backfill_validation;"
                            + " delete from backfill_request; delete from backfill_audit; delete from backfill_pace; delete from backfill_family");
        }
        db.execute("drop table if exists counters");
        db.execute(
                "create table counters (id bigint primary key, hits int not null default 0, amount int not null default 1,"
                        + " note text)");
        db.execute("insert into counters (id) select generate_series(1, " + rows + ")");
    }

    static BackfillDefinition.Builder<Long> over(String id) {
        return Backfill.define(id).over("counters", Keys.bigint("id"));
    }

    /** Custom code, with a place to interfere before it changes anything. */
    static BackfillDefinition<Long> custom(int batchSize, Repair.Custom<Long> first) {
        return over(ID.value())
                .batchSize(batchSize)
                .repair((batch, tx) -> {
                    first.repair(batch, tx);
                    return count(tx, batch.keys());
                })
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
    }

    static BackfillDefinition<Long> custom(int batchSize) {
        return custom(batchSize, (batch, tx) -> 0);
    }

    /** Counts each row once, and is judged by code. */
    static BackfillDefinition<Long> validatedBy(Validation.Custom<Long> validation) {
        return over(ID.value())
                .batchSize(4)
                .repair((batch, tx) -> count(tx, batch.keys()))
                .validate(validation)
                .build();
    }

    /** Steps until a step ends the run, or often enough that none will. */
    static StepOutcome lastStep(HarnessWorker worker) {
        StepOutcome outcome = worker.step();
        for (int i = 0; i < 30 && !(outcome instanceof StepOutcome.Ended); i++) {
            outcome = worker.step();
        }
        return outcome;
    }

    static BackfillDefinition<Long> set(int batchSize) {
        return over(ID.value())
                .batchSize(batchSize)
                .repair(Repair.update().set("hits", "hits + 1").where("hits >= 0"))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
    }

    static BackfillDefinition<Long> row(int batchSize) {
        return over(ID.value())
                .batchSize(batchSize)
                .repair(Repair.rows()
                        .reading("hits")
                        .writing("hits", row -> Long.parseLong(String.valueOf(row.text("hits"))) + 1))
                .validate(Validation.noRowMatches("hits <> 1"))
                .build();
    }

    static long count(RepairTransaction tx, List<Long> keys) throws SQLException {
        try (PreparedStatement statement =
                tx.connection().prepareStatement("update counters set hits = hits + 1 where id = any (?)")) {
            statement.setArray(1, tx.connection().createArrayOf("bigint", keys.toArray()));
            return statement.executeUpdate();
        }
    }

    /** Rows by how often they were repaired, in key order. */
    static String hits(TestDatabase db) {
        return db.queryText("select string_agg(hits::text, '' order by id) from counters");
    }
}
