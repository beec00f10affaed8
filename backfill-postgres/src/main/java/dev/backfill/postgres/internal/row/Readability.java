package dev.backfill.postgres.internal.row;

import dev.backfill.BackfillDefinition;
import dev.backfill.Family;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Whether this process can read a row (ID-5). The one judge, with one vocabulary: claims, reads, rehearsals, validation, the gate and
 * the contract guard ask it. {@link #SQL} is the same judgment in SQL.
 */
public enum Readability {
    /** It can. */
    READABLE("readable", "this process can read it"),
    /** A newer library wrote the row. */
    ROW_FORMAT(
            "row-format",
            "its row was written by another version of this library, in a format that this one does not read"),
    /** This process does not know the ID. */
    NO_DEFINITION("no-definition", "this process has no definition of it"),
    /** Bound and checkpoint are stored as another type. */
    KEY_TYPE("key-type", "its key is stored as another type than the definition here declares"),
    /** The row has another range of keys. */
    KEY_RANGES(
            "key-ranges",
            "the definition here has another range of keys: its family is divided into another number of parts");

    /**
     * The newest row format this library reads. Format 2 is that of a part of a family: a library that does not look at the lower end
     * of its range must leave it alone. Any other row is written in format 1.
     */
    public static final int NEWEST_FORMAT = 2;

    /** The condition that a row {@code b} has a format that this library reads. */
    public static final String FORMAT_SQL = "b.contract BETWEEN 1 AND " + NEWEST_FORMAT;

    /**
     * The wire name of the judgment of a row {@code b} by a definition {@code r} with the columns {@code codec} (null without a
     * definition) and {@code parts} (null for a whole source).
     */
    public static final String SQL = "CASE WHEN NOT (" + FORMAT_SQL + ") THEN 'row-format'"
            + " WHEN r.codec IS NULL THEN 'no-definition'"
            + " WHEN b.bound_captured_at IS NULL THEN 'readable'"
            + " WHEN b.key_codec IS DISTINCT FROM r.codec THEN 'key-type'"
            + " WHEN b.range_parts IS DISTINCT FROM r.parts THEN 'key-ranges'"
            + " ELSE 'readable' END";

    private final String wireName;
    private final String why;

    Readability(String wireName, String why) {
        this.wireName = wireName;
        this.why = why;
    }

    /**
     * What a row says of itself.
     *
     * @param format its format
     * @param started whether range and key are stored; neither is before the start
     * @param keyCodec its key codec
     * @param parts how many parts its family has; null for a whole source
     */
    public record Facts(
            int format,
            boolean started,
            @Nullable String keyCodec,
            @Nullable Integer parts) {}

    /** Judges a row by the definition of its ID; null where this process has none. */
    public static Readability judge(Facts row, @Nullable BackfillDefinition<?> definition) {
        if (!isKnown(row.format())) {
            return ROW_FORMAT;
        }
        if (definition == null) {
            return NO_DEFINITION;
        }
        if (!row.started()) {
            return READABLE;
        }
        if (!definition.key().codec().equals(row.keyCodec())) {
            return KEY_TYPE;
        }
        return ofRange(row.parts(), definition.part().map(Family.Part::parts).orElse(null));
    }

    /** Whether a row of this format may be read at all. */
    public static boolean isKnown(int format) {
        return format >= 1 && format <= NEWEST_FORMAT;
    }

    /** Judges a range alone: how many parts there are, and how many there should be. */
    public static Readability ofRange(@Nullable Integer parts, @Nullable Integer wanted) {
        return Objects.equals(parts, wanted) ? READABLE : KEY_RANGES;
    }

    /** The judgment of a wire name. */
    public static Readability ofWireName(String name) {
        for (Readability readable : values()) {
            if (readable.wireName.equals(name)) {
                return readable;
            }
        }
        throw new IllegalArgumentException("no judgment " + name);
    }

    /** Whether it can. */
    public boolean yes() {
        return this == READABLE;
    }

    /** The name in events and metrics. */
    public String wireName() {
        return wireName;
    }

    /** Why not, as part of a sentence about the row. */
    public String why() {
        return why;
    }
}
