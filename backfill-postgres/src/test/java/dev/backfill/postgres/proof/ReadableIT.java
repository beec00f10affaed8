package dev.backfill.postgres.proof;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.postgres.internal.row.Readable;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** One table of rows and definitions; the judge in Java and the judge in SQL say the same of each. */
@PostgresTest
class ReadableIT {

    private static final BackfillDefinition<Long> WHOLE = Counters.custom(3);
    private static final BackfillDefinition<Long> PART_OF_TWO =
            Counters.custom(3).inRanges(2).parts().get(0);
    private static final String CODEC = WHOLE.key().codec();

    private final TestDatabase db;

    ReadableIT(TestDatabase db) {
        this.db = db;
    }

    private record Row(
            Readable expected,
            Readable.Facts facts,
            @Nullable BackfillDefinition<?> definition) {}

    private static Row row(
            Readable expected,
            int format,
            boolean started,
            @Nullable String codec,
            @Nullable Integer parts,
            @Nullable BackfillDefinition<?> definition) {
        return new Row(expected, new Readable.Facts(format, started, codec, parts), definition);
    }

    private static final List<Row> ROWS = List.of(
            row(Readable.READABLE, 1, true, CODEC, null, WHOLE),
            row(Readable.READABLE, 2, true, CODEC, 2, PART_OF_TWO),
            row(Readable.READABLE, 1, false, null, null, WHOLE),
            row(Readable.READABLE, 1, false, null, null, PART_OF_TWO),
            row(Readable.ROW_FORMAT, 0, true, CODEC, null, WHOLE),
            row(Readable.ROW_FORMAT, 3, true, CODEC, null, WHOLE),
            row(Readable.ROW_FORMAT, 3, false, null, null, WHOLE),
            row(Readable.ROW_FORMAT, 3, true, CODEC, null, null),
            row(Readable.NO_DEFINITION, 1, true, CODEC, null, null),
            row(Readable.NO_DEFINITION, 1, false, null, null, null),
            row(Readable.KEY_TYPE, 1, true, "v1:(uuid)", null, WHOLE),
            row(Readable.KEY_TYPE, 1, true, null, null, WHOLE),
            row(Readable.KEY_TYPE, 2, true, "v1:(uuid)", 5, PART_OF_TWO),
            row(Readable.KEY_RANGES, 2, true, CODEC, 5, PART_OF_TWO),
            row(Readable.KEY_RANGES, 2, true, CODEC, 2, WHOLE),
            row(Readable.KEY_RANGES, 1, true, CODEC, null, PART_OF_TWO));

    @Test
    void java_and_sql_judge_every_row_alike() { // ID-5
        for (Row row : ROWS) {
            assertThat(Readable.judge(row.facts(), row.definition()))
                    .as(row.toString())
                    .isEqualTo(row.expected());
            assertThat(Readable.ofWireName(inSql(row))).as(row.toString()).isEqualTo(row.expected());
        }
        assertThat(ROWS).extracting(Row::expected).contains(Readable.values());
    }

    private String inSql(Row row) {
        BackfillDefinition<?> definition = row.definition();
        return db.queryText("select " + Readable.SQL + " from (select "
                + row.facts().format() + " as contract, "
                + (row.facts().started() ? "now()" : "null::timestamptz") + " as bound_captured_at, "
                + text(row.facts().keyCodec()) + " as key_codec, "
                + row.facts().parts() + "::integer as range_parts) as b, (select "
                + text(definition == null ? null : definition.key().codec()) + " as codec, "
                + (definition == null
                        ? null
                        : definition
                                .part()
                                .map(p -> Integer.toString(p.parts()))
                                .orElse(null))
                + "::integer as parts) as r");
    }

    private static String text(@Nullable String value) {
        return value == null ? "null::text" : String.format(Locale.ROOT, "'%s'", value);
    }
}
