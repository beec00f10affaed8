package dev.backfill;

import dev.backfill.internal.BoundedText;
import java.util.Objects;
import java.util.regex.Pattern;

/**
 * The stable name of one backfill, its only identity for execution, operation and readiness (ID-1).
 *
 * <p>1 to 128 characters of {@code a-z 0-9 . _ -}, starting with a letter or digit (ID-8). A material change of a definition
 * (source set, order, checkpoint meaning, mutation, validation) takes a new ID; that is a convention, never detected (ID-4).
 *
 * @param value the name, unchanged
 * @since 0.1
 */
public record BackfillId(String value) implements Comparable<BackfillId> {

    private static final Pattern RULE = Pattern.compile("[a-z0-9][a-z0-9._-]{0,127}");

    /**
     * Checks the rule.
     *
     * @throws InvalidDefinitionException if the name breaks the rule
     */
    public BackfillId {
        Objects.requireNonNull(value, "id");
        if (!isValid(value)) {
            throw new InvalidDefinitionException("Backfill ID '" + BoundedText.clean(value, 140)
                    + "' is not valid: 1 to 128 characters of a-z 0-9 . _ -, starting with a letter or digit."
                    + " Choose such a name; it can't be changed later.");
        }
    }

    /** The ID of that name; the same as the constructor, for readable call sites. */
    public static BackfillId of(String value) {
        return new BackfillId(value);
    }

    /** Whether a text keeps the rule of ID-8. */
    public static boolean isValid(String value) {
        return RULE.matcher(value).matches();
    }

    @Override
    public int compareTo(BackfillId other) {
        return value.compareTo(other.value);
    }

    @Override
    public String toString() {
        return value;
    }
}
