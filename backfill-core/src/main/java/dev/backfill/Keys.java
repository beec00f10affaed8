package dev.backfill;

import java.math.BigDecimal;
import java.time.LocalDate;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneOffset;
import java.time.format.DateTimeFormatter;
import java.time.format.DateTimeFormatterBuilder;
import java.time.format.SignStyle;
import java.time.temporal.ChronoField;
import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Objects;
import java.util.UUID;
import java.util.function.Function;

/**
 * Typed keyset keys. The columns must be NOT NULL and covered by a unique, valid index in this order and collation; start checks
 * that (SR-2).
 *
 * @since 0.1
 */
public final class Keys {

    private static final DateTimeFormatter TIMESTAMPTZ = new DateTimeFormatterBuilder()
            .appendValue(ChronoField.YEAR_OF_ERA, 4, 9, SignStyle.NEVER)
            .appendPattern("-MM-dd HH:mm:ss")
            .appendFraction(ChronoField.NANO_OF_SECOND, 0, 6, true)
            .appendOffset("+HH:mm:ss", "+00")
            .appendPattern("[ G]")
            .parseDefaulting(ChronoField.ERA, 1)
            .toFormatter(java.util.Locale.ENGLISH);

    private static final DateTimeFormatter TIMESTAMP = new DateTimeFormatterBuilder()
            .appendValue(ChronoField.YEAR_OF_ERA, 4, 9, SignStyle.NEVER)
            .appendPattern("-MM-dd HH:mm:ss")
            .appendFraction(ChronoField.NANO_OF_SECOND, 0, 6, true)
            .appendPattern("[ G]")
            .parseDefaulting(ChronoField.ERA, 1)
            .toFormatter(java.util.Locale.ENGLISH);

    private static final DateTimeFormatter DATE = new DateTimeFormatterBuilder()
            .appendValue(ChronoField.YEAR_OF_ERA, 4, 9, SignStyle.NEVER)
            .appendPattern("-MM-dd[ G]")
            .parseDefaulting(ChronoField.ERA, 1)
            .toFormatter(java.util.Locale.ENGLISH);

    private Keys() {}

    /** A {@code bigint} column. */
    public static KeyType<Long> bigint(String column) {
        return single(column, "bigint", Long::valueOf);
    }

    /** An {@code integer} column. */
    public static KeyType<Integer> integer(String column) {
        return single(column, "integer", Integer::valueOf);
    }

    /** A {@code smallint} column. */
    public static KeyType<Integer> smallint(String column) {
        return single(column, "smallint", Integer::valueOf);
    }

    /** A {@code uuid} column, ordered as PostgreSQL does: unsigned, unlike {@link UUID#compareTo}. */
    public static KeyType<UUID> uuid(String column) {
        return single(column, "uuid", UUID::fromString);
    }

    /** A {@code boolean} column; {@code false} comes first. Mostly the first part of a compound key. */
    public static KeyType<Boolean> bool(String column) {
        return single(column, "boolean", text -> text.startsWith("t"));
    }

    /**
     * A {@code double precision} column. Its order is PostgreSQL's: {@code NaN} comes last and equals itself, and {@code -0} equals
     * {@code 0}.
     */
    public static KeyType<Double> doublePrecision(String column) {
        return single(column, "double precision", Double::valueOf);
    }

    /** A {@code bytea} column, ordered byte by byte, unsigned. Each key is an array of its own. */
    public static KeyType<byte[]> bytea(String column) {
        return single(column, "bytea", Keys::bytes);
    }

    /** An {@code inet} column, as PostgreSQL writes it; IPv4 comes before IPv6. */
    public static KeyType<String> inet(String column) {
        return single(column, "inet", Function.identity());
    }

    /** A {@code macaddr} column, as PostgreSQL writes it. */
    public static KeyType<String> macaddr(String column) {
        return single(column, "macaddr", Function.identity());
    }

    /** A {@code numeric} column; scale survives, {@code NaN} works but has no {@link BigDecimal}. */
    public static KeyType<BigDecimal> numeric(String column) {
        return single(column, "numeric", BigDecimal::new);
    }

    /**
     * A {@code timestamptz} column, to the microsecond. {@code infinity} and {@code -infinity} become {@link OffsetDateTime#MAX}
     * and {@link OffsetDateTime#MIN}.
     */
    public static KeyType<OffsetDateTime> timestamptz(String column) {
        return single(column, "timestamptz", Keys::instant);
    }

    /**
     * A {@code timestamp} column without time zone, to the microsecond. {@code infinity} and {@code -infinity} become
     * {@link LocalDateTime#MAX} and {@link LocalDateTime#MIN}.
     */
    public static KeyType<LocalDateTime> timestamp(String column) {
        return single(column, "timestamp", Keys::localTime);
    }

    /** A {@code date} column. {@code infinity} and {@code -infinity} become {@link LocalDate#MAX} and {@link LocalDate#MIN}. */
    public static KeyType<LocalDate> date(String column) {
        return single(column, "date", Keys::day);
    }

    /** A {@code text} or {@code varchar} column under collation {@code C}; the index must be in that collation too. */
    public static KeyType<String> text(String column) {
        return text(column, "C");
    }

    /** A {@code text} or {@code varchar} column under a named, deterministic collation; the index must be in that collation too. */
    public static KeyType<String> text(String column, String collation) {
        return collated(column, "text", collation);
    }

    /** A {@code char(n)} column under collation {@code C}; trailing blanks don't count, and Java sees none. */
    public static KeyType<String> character(String column) {
        return character(column, "C");
    }

    /** A {@code char(n)} column under a named, deterministic collation; the index must be in that collation too. */
    public static KeyType<String> character(String column, String collation) {
        return collated(column, "bpchar", collation);
    }

    /** A {@code citext} column under the database's collation, as its ordinary primary key is. Upper and lower case are one key. */
    public static KeyType<String> citext(String column) {
        return citext(column, "default");
    }

    /** A {@code citext} column under a named, deterministic collation; the index must be in that collation too. */
    public static KeyType<String> citext(String column, String collation) {
        return collated(column, "citext", collation);
    }

    /**
     * A column of any other type with an order for B-trees whose text PostgreSQL reads back as the same value; preflight tries that on
     * rows of the table. Java sees the text.
     *
     * @param column the column
     * @param type the type as it is cast in SQL, for instance {@code macaddr8}; {@code schema.name} outside the search path
     */
    public static KeyType<String> of(String column, String type) {
        return new KeyType<>(List.of(new KeyType.Column(column, castable(type), null)), parts -> parts.get(0));
    }

    /**
     * As {@link #of(String, String)}, for a type that has a collation.
     *
     * @param collation the deterministic collation of its index
     */
    public static KeyType<String> of(String column, String type, String collation) {
        return collated(column, castable(type), collation);
    }

    private static String castable(String type) {
        boolean qualified = Objects.requireNonNull(type, "type").indexOf('.') >= 0 && type.indexOf('"') < 0;
        return qualified ? TableName.of(type).quoted() : type;
    }

    private static KeyType<String> collated(String column, String type, String collation) {
        return new KeyType<>(
                List.of(new KeyType.Column(column, type, Objects.requireNonNull(collation, "collation"))),
                parts -> parts.get(0));
    }

    private static byte[] bytes(String text) {
        if (!text.startsWith("\\x")) {
            throw new IllegalArgumentException("not the hex format");
        }
        return HexFormat.of().parseHex(text, 2, text.length());
    }

    /**
     * A column of an enum type, in the order of its declaration.
     *
     * @param column the column
     * @param type the enum type, {@code name} or {@code schema.name}, unquoted
     */
    public static KeyType<String> enumerated(String column, String type) {
        return single(column, TableName.of(Objects.requireNonNull(type, "type")).quoted(), Function.identity());
    }

    /** A compound key, most significant first; later columns break the ties of earlier ones. */
    public static KeyType<CompoundKey> compound(KeyType<?>... parts) {
        List<KeyType.Column> columns = new ArrayList<>();
        for (KeyType<?> part : Objects.requireNonNull(parts, "parts")) {
            columns.addAll(Objects.requireNonNull(part, "part").columns());
        }
        List<KeyType<?>> types = List.of(parts);
        return new KeyType<>(columns, texts -> decodeParts(types, texts));
    }

    private static CompoundKey decodeParts(List<KeyType<?>> types, List<String> texts) {
        List<Object> decoded = new ArrayList<>();
        int from = 0;
        for (KeyType<?> type : types) {
            int to = from + type.columns().size();
            decoded.add(Objects.requireNonNull(type.decode(texts.subList(from, to))));
            from = to;
        }
        return new CompoundKey(decoded);
    }

    private static <K> KeyType<K> single(String column, String type, Function<String, K> decode) {
        return new KeyType<>(List.of(new KeyType.Column(column, type, null)), parts -> decode.apply(parts.get(0)));
    }

    private static LocalDateTime localTime(String text) {
        return switch (text) {
            case "infinity" -> LocalDateTime.MAX;
            case "-infinity" -> LocalDateTime.MIN;
            default -> LocalDateTime.parse(text, TIMESTAMP);
        };
    }

    private static OffsetDateTime instant(String text) {
        return switch (text) {
            case "infinity" -> OffsetDateTime.MAX;
            case "-infinity" -> OffsetDateTime.MIN;
            default -> OffsetDateTime.parse(text, TIMESTAMPTZ).withOffsetSameInstant(ZoneOffset.UTC);
        };
    }

    private static LocalDate day(String text) {
        return switch (text) {
            case "infinity" -> LocalDate.MAX;
            case "-infinity" -> LocalDate.MIN;
            default -> LocalDate.parse(text, DATE);
        };
    }
}
