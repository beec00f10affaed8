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
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** The precision, collation, sentinel and tie faults: each type of key survives exactly, and in PostgreSQL's order. */
@PostgresTest
class KeyOrderIT {

    private final TestDatabase db;

    KeyOrderIT(TestDatabase db) {
        this.db = db;
    }

    @AfterEach
    void nothing_is_left() {
        db.execute("do $$ begin execute format('alter database %I reset all', current_database()); end $$");
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
    void boolean_keys_begin_with_false() { // SR-2
        walks(Keys.bool("k"), "boolean", "true", "false");
    }

    @Test
    void boolean_keys_reach_java() { // SR-4
        keyed("boolean", "true", "false");
        assertThat(decoded(Keys.bool("k"))).containsExactly(false, true);
    }

    /** As a careless role or database would have it. */
    private void byDefault(String setting, String value) {
        db.execute("do $$ begin execute format('alter database %I set " + setting + " = "
                + KeyTable.quoted(value).replace("'", "''") + "', current_database()); end $$");
    }

    @Test
    void double_keys_keep_every_bit_and_nan_comes_last() { // SR-2, SR-4
        byDefault("extra_float_digits", "0");
        keyed(
                "double precision",
                "NaN",
                "Infinity",
                "-Infinity",
                "0.1",
                "0.30000000000000004",
                "0.3",
                "4.9e-324",
                "1.7976931348623157e308",
                "-0",
                "-1e-300");
        assertThat(decoded(Keys.doublePrecision("k")))
                .containsExactly(
                        Double.NEGATIVE_INFINITY,
                        -1e-300,
                        -0.0,
                        Double.MIN_VALUE,
                        0.1,
                        0.3,
                        0.30000000000000004,
                        Double.MAX_VALUE,
                        Double.POSITIVE_INFINITY,
                        Double.NaN);
    }

    @Test
    void bytea_keys_are_unsigned_and_the_shorter_comes_first() { // SR-2, SR-4
        walks(Keys.bytea("k"), "bytea", "\\x", "\\x00", "\\x0000", "\\x7f", "\\x80", "\\xff", "\\xff00", "\\x5c78");
    }

    @Test
    void bytea_keys_reach_java_whatever_the_session_writes() { // SR-4
        byDefault("bytea_output", "escape");
        keyed("bytea", "\\x", "\\xff5c", "\\x00");
        assertThat(decoded(Keys.bytea("k")))
                .containsExactly(new byte[0], new byte[] {0}, new byte[] {(byte) 0xff, 0x5c});
    }

    @Test
    void char_keys_ignore_their_blanks() { // SR-2, SR-4
        walks(Keys.character("k"), "char(6) collate \"C\"", "a", "a b", "B", "  x", "it's", "\u00e4", "");
    }

    @Test
    void char_keys_order_as_their_collation_says() { // SR-2
        walks(Keys.character("k", "und-x-icu"), "char(6) collate \"und-x-icu\"", "a", "B", "b", "A", "\u00e4", "z");
    }

    @Test
    void citext_keys_are_one_key_in_either_case() { // SR-2, SR-4
        db.execute("create extension if not exists citext");
        walks(Keys.citext("k"), "citext", "Stra\u00dfe", "b", "A", "C", "", "it's", "Zz", "\u00e4");
    }

    @Test
    void inet_keys_keep_their_prefix() { // SR-2, SR-4
        walks(
                Keys.inet("k"),
                "inet",
                "10.0.0.1",
                "10.0.0.1/8",
                "10.0.0.0/8",
                "0.0.0.0/0",
                "255.255.255.255",
                "::1",
                "::ffff:10.0.0.1",
                "ffff:ffff::/32",
                "9.255.0.1");
    }

    @Test
    void macaddr_keys_are_unsigned() { // SR-2, SR-4
        walks(
                Keys.macaddr("k"),
                "macaddr",
                "00:00:00:00:00:00",
                "ff:ff:ff:ff:ff:ff",
                "7f:00:00:00:00:01",
                "80:00:00:00:00:00");
    }

    @Test
    void a_domain_is_walked_by_its_base_type() { // SR-2, SR-4
        db.execute(
                "create domain code as varchar(9) collate \"C\" check (value <> 'x'); create domain short_code as code");
        walks(Keys.text("k"), "short_code", "b", "a", "B", "");
    }

    @Test
    void a_domain_over_bytes_is_walked_as_bytes() { // SR-2, SR-4
        db.execute("create domain digest as bytea check (length(value) < 9)");
        walks(Keys.bytea("k"), "digest", "\\x80", "\\x7f", "\\x");
    }

    static List<Arguments> orderedTypes() {
        return List.of(
                Arguments.of(
                        "macaddr8",
                        List.of("08:00:2b:01:02:03:04:05", "ff:00:2b:01:02:03:04:05", "00:00:2b:01:02:03:04:05")),
                Arguments.of("cidr", List.of("10.0.0.0/8", "10.0.0.0/16", "9.0.0.0/8", "::/0")),
                Arguments.of(
                        "interval",
                        List.of("-1 year 2 days -00:00:01", "1 day", "25:00:00", "-178000000 years", "1 month")),
                Arguments.of("real", List.of("NaN", "0.1", "3.4028235e38", "1e-45", "-Infinity")),
                Arguments.of("int4range", List.of("empty", "[1,5)", "(,3)", "[1,)")),
                Arguments.of("time with time zone", List.of("00:00+14", "23:59:59.999999-14", "12:00Z")),
                Arguments.of("integer[]", List.of("{1,2}", "{1}", "{NULL,1}", "{}")),
                Arguments.of("pg_lsn", List.of("0/0", "FFFFFFFF/FFFFFFFF", "16/B374D848")));
    }

    @ParameterizedTest
    @MethodSource("orderedTypes")
    void any_ordered_type_is_walked_by_its_text(String type, List<String> values) { // SR-2, SR-4
        byDefault("intervalstyle", "sql_standard");
        byDefault("extra_float_digits", "0");
        keyed(type, values.toArray(String[]::new));
        List<String> walked = decoded(Keys.of("k", type));
        assertThat(walked).hasSameSizeAs(values);
        for (int i = 1; i < walked.size(); i++) {
            assertThat(db.queryBoolean(
                            "select ?::text::" + type + " < ?::text::" + type, walked.get(i - 1), walked.get(i)))
                    .as("%s: %s", type, walked)
                    .isTrue();
        }
        for (String value : walked) {
            assertThat(db.queryLong("select count(*) from keyed where k = ?::text::" + type, value))
                    .as(value)
                    .isEqualTo(1);
        }
    }

    @Test
    void a_compound_key_may_end_in_a_bytea() { // SR-2
        db.execute("""
                create table keyed (community uuid not null, at timestamptz not null, id bytea not null, hits int not null default 0,
                  primary key (community, at, id)) partition by range (at);
                create table keyed_a partition of keyed for values from (minvalue) to ('2024-02-01Z');
                create table keyed_b partition of keyed for values from ('2024-02-01Z') to (maxvalue);
                insert into keyed select md5((g % 2)::text)::uuid, timestamptz '2024-01-31 23:59:59Z' + (g / 9) * interval '1 second',
                  sha256(g::text::bytea) from generate_series(1, 41) as g""");
        KeyType<CompoundKey> key = Keys.compound(Keys.uuid("community"), Keys.timestamptz("at"), Keys.bytea("id"));
        byDefault("timezone", "UTC");
        new KeyTable(db, TableName.of("keyed"))
                .walksInOrder(key, "community::text, at::text, id::text", "community, at, id");
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
