package dev.backfill.postgres.kind;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.testkit.TestDatabase;

/** A small table and definitions over it. */
final class Notes {

    static final BackfillId ID = BackfillId.of("notes.v1");

    private Notes() {}

    static void fill(TestDatabase db, int rows) {
        db.execute("create table notes (id bigint primary key, n int not null, seen int not null default 0);"
                + " insert into notes select g, g from generate_series(1, " + rows + ") g; analyze notes");
    }

    static BackfillDefinition.Builder<Long> over() {
        return Backfill.define(ID.value()).over("notes", Keys.bigint("id"));
    }

    static BackfillDefinition.Builder<Long> seeing(int batchSize) {
        return over().batchSize(batchSize)
                .repair(Repair.update().set("seen", "seen + 1").where("seen = 0"))
                .validate(Validation.noRowMatches("seen <> 1"));
    }

    static BackfillDefinition<Long> custom(int batchSize, Repair.Custom<Long> repair) {
        return over().batchSize(batchSize)
                .repair(repair)
                .validate(Validation.noRowMatches("seen <> 1"))
                .build();
    }
}
