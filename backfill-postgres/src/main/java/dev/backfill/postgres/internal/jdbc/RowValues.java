package dev.backfill.postgres.internal.jdbc;

import dev.backfill.InvalidDefinitionException;
import java.time.temporal.TemporalAccessor;
import java.util.HexFormat;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Turns what a row function returns into text that PostgreSQL reads back without loss. */
public final class RowValues {

    private RowValues() {}

    /** The text of one value. */
    public static @Nullable String text(@Nullable Object value) {
        if (value == null) {
            return null;
        }
        if (value instanceof byte[] bytes) {
            return "\\x" + HexFormat.of().formatHex(bytes);
        }
        if (value instanceof CharSequence
                || value instanceof Number
                || value instanceof Boolean
                || value instanceof UUID
                || value instanceof Enum<?>
                || value instanceof TemporalAccessor) {
            return encodable(value.toString());
        }
        throw new InvalidDefinitionException(
                "A repair's function returned a " + value.getClass().getName()
                        + ". Return null, text, a number, a boolean, a UUID, a java.time value or a byte[]; JSON as text.");
    }

    /** The driver would send a question mark for half of a surrogate pair, and say nothing. */
    private static String encodable(String text) {
        int next;
        for (int i = 0; i < text.length(); i += Character.charCount(next)) {
            next = text.codePointAt(i);
            if (next >= Character.MIN_SURROGATE && next <= Character.MAX_SURROGATE) {
                throw new IllegalArgumentException("half of a surrogate pair has no encoding");
            }
        }
        return text;
    }
}
