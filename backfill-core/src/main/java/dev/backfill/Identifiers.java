package dev.backfill;

import dev.backfill.internal.BoundedText;
import java.nio.charset.StandardCharsets;
import java.util.Objects;

/**
 * Checks and quotes SQL identifiers.
 *
 * @since 0.1
 */
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
     * @return the identifier
     * @throws InvalidDefinitionException if it is empty, too long or holds NUL
     */
    public static String check(String what, String identifier) {
        Objects.requireNonNull(identifier, what);
        int bytes = identifier.getBytes(StandardCharsets.UTF_8).length;
        if (bytes == 0 || bytes > MAX_BYTES || identifier.indexOf('\0') >= 0) {
            throw new InvalidDefinitionException(
                    "The " + what + " name '" + BoundedText.clean(identifier, 80)
                            + "' is not valid: 1 to 63 bytes without NUL. Give the name as it stands in the catalog, unquoted.");
        }
        return identifier;
    }
}
