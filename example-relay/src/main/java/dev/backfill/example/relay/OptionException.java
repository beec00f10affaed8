package dev.backfill.example.relay;

/** An option that can't be used: names the option and the rule, never a secret value. */
final class OptionException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    OptionException(String message) {
        super(message);
    }
}
