package dev.backfill.postgres.observe;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.testkit.TestDatabase;

/** A small table and definitions over it that a test can hold, break and mend. */
final class Ledgers {

    static final BackfillId ID = BackfillId.of("ledgers.counted.v1");

    private Ledgers() {}

    static void fresh(TestDatabase db, int rows) {
        db.clear();
        db.execute("create table ledgers (id bigint primary key, hits int not null default 0, secret text)");
        db.execute("insert into ledgers (id) select g from generate_series(1, " + rows + ") as g");
    }

    static BackfillDefinition.Builder<Long> over(String id) {
        return Backfill.define(id).describedAs("Counts").over("ledgers", Keys.bigint("id"));
    }

    /** Counts each row once, after whatever comes first. */
    static BackfillDefinition<Long> counting(int batchSize, Repair.Custom<Long> first) {
        return counting(ID.value(), batchSize, first);
    }

    static BackfillDefinition<Long> counting(String id, int batchSize, Repair.Custom<Long> first) {
        return over(id).batchSize(batchSize)
                .repair((batch, tx) -> {
                    first.repair(batch, tx);
                    try (var statement =
                            tx.connection().prepareStatement("update ledgers set hits = hits + 1 where id = any (?)")) {
                        statement.setArray(
                                1,
                                tx.connection()
                                        .createArrayOf("bigint", batch.keys().toArray()));
                        return statement.executeUpdate();
                    }
                })
                .validate(Validation.noRowMatches("hits < 1"))
                .build();
    }
}
