package dev.backfill.postgres;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.CompoundKey;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.testkit.TestDatabase;
import java.util.Locale;

/** Tables and definitions that the engine's tests share. */
final class Samples {

    static final BackfillId DOUBLED = BackfillId.of("items.doubled.v1");

    private Samples() {}

    /** A table whose repair doubles a number into a column, and whose hits count how often a row was repaired. */
    static void items(TestDatabase db, int rows) {
        db.execute("""
                drop table if exists items;
                create table items (id bigint primary key, tags jsonb not null default '{}', n int not null, doubled int,
                  hits int not null default 0, name text not null default '');
                """);
        db.execute("insert into items (id, n, name, tags) select g * 3, g, 'Name ' || g, jsonb_build_object('e', g)"
                + " from generate_series(1, " + rows + ") as g");
    }

    static BackfillDefinition.Builder<Long> overItems(String id) {
        return Backfill.define(id).describedAs("Doubles n").over("items", Keys.bigint("id"));
    }

    static BackfillDefinition<Long> doubling(int batchSize) {
        return overItems(DOUBLED.value())
                .batchSize(batchSize)
                .repair(Repair.update()
                        .set("doubled", "n * 2")
                        .set("hits", "hits + 1")
                        .where("doubled IS NULL AND tags ? 'e'"))
                .validate(Validation.noRowMatches("doubled IS NULL AND tags ? 'e'"))
                .build();
    }

    static BackfillDefinition<Long> upper(int batchSize) {
        return overItems("items.upper.v1")
                .batchSize(batchSize)
                .repair(Repair.rows().reading("name").writing("name", row -> {
                    String name = row.text("name");
                    return name == null ? null : name.toUpperCase(Locale.ROOT);
                }))
                .validate(Validation.noRowMatches("name <> upper(name)"))
                .build();
    }

    /** Not idempotent by nature: a second run of a window shows. */
    static BackfillDefinition<Long> counting(int batchSize, Repair.Custom<Long> beforeIncrement) {
        return overItems("items.counting.v1")
                .batchSize(batchSize)
                .repair((batch, tx) -> {
                    beforeIncrement.repair(batch, tx);
                    try (var statement =
                            tx.connection().prepareStatement("update items set hits = hits + 1 where id = any (?)")) {
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

    static void ties(TestDatabase db, int rows) {
        db.execute("""
                drop table if exists ties;
                create table ties (at timestamptz not null, id uuid not null, done boolean not null default false,
                  primary key (at, id));
                """);
        db.execute(
                "insert into ties (at, id) select timestamptz '2024-01-01 00:00:00.123456Z' + (g / 7) * interval '1 second',"
                        + " md5(g::text)::uuid from generate_series(1, " + rows + ") as g");
    }

    static BackfillDefinition<CompoundKey> tied(int batchSize) {
        return Backfill.define("ties.done.v1")
                .over("ties", Keys.compound(Keys.timestamptz("at"), Keys.uuid("id")))
                .batchSize(batchSize)
                .repair(Repair.update().set("done", "true").where("NOT done"))
                .validate(Validation.noRowMatches("NOT done"))
                .build();
    }
}
