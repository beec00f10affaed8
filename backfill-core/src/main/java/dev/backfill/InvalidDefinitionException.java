package dev.backfill;

/**
 * A definition, an ID, an option or a set of them breaks a rule that can be checked without a database. Nothing was registered.
 *
 * @since 0.1
 */
public final class InvalidDefinitionException extends BackfillException {

    private static final long serialVersionUID = 1L;

    /** With a message that names the thing, the rule and what to do. */
    public InvalidDefinitionException(String message) {
        super(message);
    }
}
