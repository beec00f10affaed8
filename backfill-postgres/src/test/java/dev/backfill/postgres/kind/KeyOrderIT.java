package dev.backfill.postgres.kind;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.CompoundKey;
import dev.backfill.KeyType;
import dev.backfill.Keys;
import dev.backfill.TableName;
import dev.backfill.Validation;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** The precision, collation, sentinel and tie faults: each type of key survives exactly, and in PostgreSQL's order. */
@PostgresTest
class KeyOrderIT {

    private final TestDatabase db;

    KeyOrderIT(TestDatabase db) {
        this.db = db;
    }

    @AfterEach
    void nothing_is_left() {
        db.clear();
    }

    private KeyTable keyed(String type, String... values) {
        db.execute("create table keyed (k " + type + " primary key, hits int not null default 0)");
        for (String value : values) {
            db.execute("insert into keyed (k) values (" + KeyTable.quoted(value) + ")");
        }
        return new KeyTable(db, TableName.of("keyed"));
    }

    private void walks(KeyType<?> key, String type, String... values) {
        keyed(type, values).walksInOrder(key, "k::text", "k");
    }

    /** The keys as own code sees them. */
    private <K> List<K> decoded(KeyType<K> key) {
        List<K> seen = new ArrayList<>();
        BackfillDefinition<K> definition = Backfill.define(KeyTable.ID.value())
                .over("keyed", key)
                .batchSize(2)
                .repair((batch, tx) -> {
                    seen.addAll(batch.keys());
                    return 0;
                })
                .validate(Validation.noRowMatches("false"))
                .build();
        new KeyTable(db, TableName.of("keyed")).walk(definition);
        return seen;
    }

    @Test
    void bigint_keys_keep_both_extremes() { // SR-4
        walks(Keys.bigint("k"), "bigint", "9223372036854775807", "-9223372036854775808", "0", "-1", "1", "10", "9");
    }

    @Test
    void integer_keys_keep_both_extremes() { // SR-4
        walks(Keys.integer("k"), "integer", "2147483647", "-2147483648", "0", "-1", "10", "9");
    }

    @Test
    void smallint_keys_keep_both_extremes() { // SR-4
        walks(Keys.smallint("k"), "smallint", "32767", "-32768", "0", "-1", "10", "9");
    }

    @Test
    void local_timestamp_keys_keep_microseconds_years_before_christ_and_infinity() { // SR-4
        walks(
                Keys.timestamp("k"),
                "timestamp",
                "infinity",
                "-infinity",
                "2024-01-01 00:00:00.123457",
                "2024-01-01 00:00:00.123456",
                "0044-03-15 12:00:00 BC",
                "294276-12-31 23:59:59.999999");
    }

    @Test
    void local_timestamp_keys_reach_java_to_the_microsecond() { // SR-4
        keyed("timestamp", "infinity", "-infinity", "2024-01-01 00:00:00.000001", "0044-03-15 12:00:00 BC");
        assertThat(decoded(Keys.timestamp("k")))
                .containsExactly(
                        LocalDateTime.MIN,
                        LocalDateTime.parse("-0043-03-15T12:00:00"),
                        LocalDateTime.parse("2024-01-01T00:00:00.000001"),
                        LocalDateTime.MAX);
    }

    @Test
    void uuid_keys_are_unsigned() { // SR-2
        walks(
                Keys.uuid("k"),
                "uuid",
                "80000000-0000-0000-0000-000000000000",
                "ffffffff-ffff-ffff-ffff-ffffffffffff",
                "00000000-0000-0000-0000-000000000000",
                "7fffffff-ffff-ffff-ffff-ffffffffffff");
    }

    @Test
    void uuid_keys_reach_java_in_the_order_of_the_server() { // SR-2, SR-4
        String low = "00000000-0000-0000-0000-000000000000";
        String middle = "7fffffff-ffff-ffff-ffff-ffffffffffff";
        String high = "80000000-0000-0000-0000-000000000000";
        String top = "ffffffff-ffff-ffff-ffff-ffffffffffff";
        keyed("uuid", high, top, low, middle);
        assertThat(decoded(Keys.uuid("k")))
                .containsExactly(
                        UUID.fromString(low), UUID.fromString(middle), UUID.fromString(high), UUID.fromString(top));
    }

    @Test
    void numeric_keys_keep_scale_and_nan_comes_last() { // SR-4
        walks(
                Keys.numeric("k"),
                "numeric",
                "NaN",
                "0.10",
                "-12345678901234567890.123456789",
                "99999999999999999999999999",
                "1.000",
                "1.0001",
                "-0.5");
    }

    @Test
    void numeric_keys_reach_java_with_their_scale() { // SR-4
        keyed("numeric", "1.500", "-2");
        assertThat(decoded(Keys.numeric("k"))).containsExactly(new BigDecimal("-2"), new BigDecimal("1.500"));
    }

    @Test
    void timestamp_keys_keep_microseconds_years_before_christ_and_infinity() { // SR-4
        walks(
                Keys.timestamptz("k"),
                "timestamptz",
                "infinity",
                "-infinity",
                "2024-01-01 00:00:00.123457Z",
                "2024-01-01 00:00:00.123456Z",
                "0044-03-15 12:00:00Z BC",
                "294276-12-31 23:59:59.999999Z",
                "2024-06-01 12:00:00+05:45");
    }

    @Test
    void timestamp_keys_reach_java_to_the_microsecond() { // SR-4
        keyed("timestamptz", "infinity", "-infinity", "2024-01-01 00:00:00.000001Z", "0001-01-01 00:00:00Z BC");
        assertThat(decoded(Keys.timestamptz("k")))
                .containsExactly(
                        OffsetDateTime.MIN,
                        OffsetDateTime.parse("0000-01-01T00:00:00Z"),
                        OffsetDateTime.parse("2024-01-01T00:00:00.000001Z"),
                        OffsetDateTime.MAX);
    }

    @Test
    void date_keys_keep_years_before_christ_and_infinity() { // SR-4
        String[] values = {"infinity", "-infinity", "0044-03-15 BC", "5874897-12-31", "2024-02-29", "1999-12-31"};
        walks(Keys.date("k"), "date", values);
    }

    @Test
    void date_keys_reach_java() { // SR-4
        keyed("date", "infinity", "-infinity", "0044-03-15 BC", "2024-02-29");
        assertThat(decoded(Keys.date("k")))
                .containsExactly(LocalDate.MIN, LocalDate.of(-43, 3, 15), LocalDate.of(2024, 2, 29), LocalDate.MAX);
    }

    private static final String[] WORDS = {
        "",
        "a",
        "B",
        "b",
        "A",
        "\u00e4",
        "z",
        "Z",
        "it's",
        "back\\slash",
        "{brace}",
        "\"quoted\"",
        "a,b",
        "NULL",
        "100% ?",
        ":x",
        "\ud83d\ude00",
        "\u00df",
        "ss",
        " ",
        "\n"
    };

    @Test
    void text_keys_under_c_order_by_bytes() { // SR-2
        walks(Keys.text("k"), "text collate \"C\"", WORDS);
    }

    @Test
    void text_keys_under_icu_order_as_the_collation_says() { // SR-2
        walks(Keys.text("k", "und-x-icu"), "text collate \"und-x-icu\"", WORDS);
    }

    @Test
    void varchar_keys_are_text_keys() { // SR-2
        walks(Keys.text("k"), "varchar(40) collate \"C\"", WORDS);
    }

    @Test
    void enum_keys_order_as_declared() { // SR-2
        db.execute("create schema kinds; create type kinds.\"Mood Of\" as enum ('low', 'high', 'it''s', 'a mood')");
        keyed("kinds.\"Mood Of\"", "a mood", "high", "it's", "low")
                .walksInOrder(Keys.enumerated("k", "kinds.Mood Of"), "k::text", "k");
        db.execute("drop schema kinds cascade");
    }

    @Test
    void ties_larger_than_a_batch_in_a_mixed_compound_key_lose_nothing() { // SR-2
        db.execute("""
                create table keyed (at timestamptz not null, kind text collate "C" not null, n numeric not null, u uuid not null,
                  hits int not null default 0, primary key (at, kind, n, u));
                insert into keyed select timestamptz '2024-01-01Z' + (g / 20) * interval '1 microsecond',
                  case when g % 20 < 15 then 'same' else 'Same' end, (g % 3) / 2.0, md5(g::text)::uuid
                from generate_series(1, 61) as g""");
        KeyType<CompoundKey> key =
                Keys.compound(Keys.timestamptz("at"), Keys.text("kind"), Keys.numeric("n"), Keys.uuid("u"));
        // Offsets as in the engine's own sessions, which are in UTC.
        db.execute(
                "do $$ begin execute format('alter database %I set timezone = ''UTC''', current_database()); end $$");
        new KeyTable(db, TableName.of("keyed")).walksInOrder(key, "at::text, kind, n::text, u::text", "at, kind, n, u");
    }
}
