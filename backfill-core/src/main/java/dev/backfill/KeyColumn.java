package dev.backfill;

import dev.backfill.internal.BoundedText;
import dev.backfill.internal.Identifiers;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * One column of a keyset key. Its order is PostgreSQL's, never Java's (SR-2).
 *
 * @param name the column, unquoted
 * @param sqlType the PostgreSQL type as it is cast in SQL, for instance {@code bigint}
 * @param collation for text: the deterministic collation that orders it, for instance {@code C}; null for other types
 * @since 0.1
 */
public record KeyColumn(
        String name, String sqlType, @Nullable String collation) {

    // A type is spliced into SQL as a cast: names, optional schema and quotes, and nothing that could end the cast.
    private static final Pattern TYPE =
            Pattern.compile("([A-Za-z_][A-Za-z0-9_ ]*|(\"[^\"\\x00]+\"\\.)?\"[^\"\\x00]+\")(\\[])?");

    /** Checks the parts. */
    public KeyColumn {
        Identifiers.check("key column", name, InvalidDefinitionException::new);
        if (!TYPE.matcher(sqlType).matches()) {
            throw new InvalidDefinitionException("The key type '" + BoundedText.clean(sqlType, 80) + "' of column "
                    + name + " is not a plain type name. Use one of the methods of Keys.");
        }
        if (collation != null) {
            Identifiers.check("collation", collation, InvalidDefinitionException::new);
        }
    }

    /** The name under which bound and checkpoint are stored, for instance {@code bigint} or {@code text:C} (SR-4). */
    public String codecName() {
        return collation == null ? sqlType : sqlType + ":" + collation;
    }
}
