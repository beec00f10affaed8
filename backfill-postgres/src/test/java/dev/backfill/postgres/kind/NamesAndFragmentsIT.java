package dev.backfill.postgres.kind;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.CompoundKey;
import dev.backfill.KeyType;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.TableName;
import dev.backfill.Validation;
import dev.backfill.operate.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Names and an author's SQL mean what they say, whatever characters they hold. */
@PostgresTest
class NamesAndFragmentsIT {

    private final TestDatabase db;

    NamesAndFragmentsIT(TestDatabase db) {
        this.db = db;
    }

    @AfterEach
    void nothing_is_left() {
        db.execute("drop schema if exists \"Other.Place\" cascade");
        db.clear();
    }

    @Test
    void names_may_hold_any_character() {
        TableName table = new TableName("Other.Place", "Odd \"{source}\" ?:name; --");
        String key = "{bound} :key ?? \"K\"";
        String written = "{condition}:hits?";
        db.execute("create schema \"Other.Place\"");
        executeAsWritten("create table " + table.quoted() + " (" + quote(key) + " bigint primary key, " + quote(written)
                + " int, hits int not null default 0); insert into " + table.quoted()
                + " select g, null, 0 from generate_series(1, 7) g");
        BackfillDefinition<Long> set = Backfill.define("names.set.v1")
                .over(table, Keys.bigint(key))
                .batchSize(2)
                .repair(Repair.update().set(written, quote(key) + " * 2"))
                .validate(Validation.noRowMatches(quote(written) + " IS NULL"))
                .build();
        BackfillDefinition<Long> row = Backfill.define("names.row.v1")
                .over(table, Keys.bigint(key))
                .batchSize(2)
                .repair(Repair.rows().reading(written).writing(written, r -> Integer.parseInt(r.text(written)) + 1))
                .validate(Validation.noRowMatches("false"))
                .build();
        completes(set);
        completes(row);
        assertThat(db.queryLong("select count(*) from " + table.quoted() + " where " + quote(written) + " = "
                        + quote(key) + " * 2 + 1"))
                .isEqualTo(7);
    }

    /** Without parameters, so that no question mark is taken for one. */
    private void executeAsWritten(String sql) {
        try (var connection = db.connection();
                var statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (java.sql.SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private static String quote(String name) {
        return dev.backfill.internal.Identifiers.quote(name);
    }

    @Test
    void a_partitioned_table_is_walked_across_its_partitions() { // SR-2
        db.execute("""
                create table keyed (region text collate "C" not null, id bigint not null, hits int not null default 0,
                  primary key (region, id)) partition by list (region);
                create table keyed_a partition of keyed for values in ('a', 'c');
                create table keyed_b partition of keyed for values in ('b');
                insert into keyed select chr(97 + g % 3), g from generate_series(1, 50) g""");
        KeyType<CompoundKey> key = Keys.compound(Keys.text("region"), Keys.bigint("id"));
        new KeyTable(db, TableName.of("keyed")).walksInOrder(key, "region, id::text", "region, id");
    }

    @Test
    void fragments_mean_what_postgresql_reads_in_them() {
        List<String> conditions = List.of(
                "tags ? 'e' AND tags ?| array['e', 'x'] AND tags ?& array['e']",
                "tags ? 'e' -- a comment with ' and ? and {source} and :bound",
                "/* why ? /* nested ' ? */ still ? */ tags ? 'e'",
                "tags ? 'e' AND note <> E'it\\'s ? :checkpoint; {page_order}' AND tags ? 'e'",
                "tags ? 'e' AND note <> $q1$ ' ? :bound {edge}; $q1$ AND tags ? 'e'",
                "tags ? 'e' AND note <> 'a; '' {head} :limit ??'",
                "tags @? '$.e ? (@ > 0)' AND (tags->>'e')::int > 0",
                "tags ? 'e' AND \"odd ? col\" IS NULL AND U&\"odd ? col\" IS NULL");
        for (int i = 0; i < conditions.size(); i++) {
            executeAsWritten(
                    "drop table if exists keyed; create table keyed (id bigint primary key, tags jsonb not null,"
                            + " note text not null default 'n', \"odd ? col\" int, done boolean not null default false);"
                            + " insert into keyed (id, tags) select g, jsonb_build_object('e', g) from generate_series(1, 5) g");
            String condition = conditions.get(i);
            completes(Backfill.define("fragments." + i + ".v1")
                    .over("keyed", Keys.bigint("id"))
                    .batchSize(2)
                    .repair(Repair.update()
                            .set("done", "true /* ? */ AND tags ? 'e' -- done?")
                            .where(condition))
                    .validate(Validation.noRowMatches("NOT done AND (" + condition + "\n)"))
                    .build());
            assertThat(db.queryLong("select count(*) from keyed where done"))
                    .as(condition)
                    .isEqualTo(5);
        }
    }

    private void completes(BackfillDefinition<?> definition) {
        try (BackfillHarness harness = BackfillHarness.on(db, definition)) {
            harness.runToCompletion(definition.id());
            assertThat(harness.state(definition.id())).isEqualTo(BackfillState.COMPLETED);
        }
    }
}
