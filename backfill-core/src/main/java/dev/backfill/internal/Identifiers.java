package dev.backfill.internal;

import java.nio.charset.StandardCharsets;
import java.util.Objects;
import java.util.function.Function;

/** Checks and quotes SQL identifiers. */
public final class Identifiers {

    // PostgreSQL silently truncates longer identifiers (NAMEDATALEN - 1), which would name another object.
    private static final int MAX_BYTES = 63;

    private Identifiers() {}

    /** Quotes an identifier as PostgreSQL does: double quotes, inner ones doubled. */
    public static String quote(String identifier) {
        return '"' + identifier.replace("\"", "\"\"") + '"';
    }

    /**
     * Refuses what can't be the name of a PostgreSQL object.
     *
     * @param what what is named, for the message
     * @param identifier the unquoted name
     * @param refusal makes the exception that is thrown if it is empty, too long or holds NUL
     * @return the identifier
     */
    public static String check(String what, String identifier, Function<String, ? extends RuntimeException> refusal) {
        Objects.requireNonNull(identifier, what);
        int bytes = identifier.getBytes(StandardCharsets.UTF_8).length;
        if (bytes == 0 || bytes > MAX_BYTES || identifier.indexOf('\0') >= 0) {
            throw refusal.apply(
                    "The " + what + " name '" + BoundedText.clean(identifier, 80)
                            + "' is not valid: 1 to 63 bytes without NUL. Give the name as it stands in the catalog, unquoted.");
        }
        return identifier;
    }
}
