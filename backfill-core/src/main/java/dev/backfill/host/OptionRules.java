package dev.backfill.host;

import dev.backfill.InvalidDefinitionException;
import java.time.Duration;
import java.util.Objects;

/** What values {@link EngineOptions} takes, each for itself and in their order. Stateless. */
final class OptionRules {

    private static final Duration LEAST = Duration.ofMillis(10);
    private static final Duration DEADLOCK_TIMEOUT = Duration.ofSeconds(1);

    private OptionRules() {}

    /** Refuses an order that would let a claim lapse under its own batch. */
    static void inOrder(EngineOptions options) {
        ordered("lockTimeout", options.lockTimeout(), "the deadlock timeout", DEADLOCK_TIMEOUT.minusMillis(1));
        ordered("lockTimeout", options.lockTimeout(), "statementTimeout", options.statementTimeout());
        ordered("statementTimeout", options.statementTimeout(), "transactionTimeout", options.transactionTimeout());
        ordered("twice transactionTimeout", options.transactionTimeout().multipliedBy(2), "lease", options.lease());
        ordered("retryBase", options.retryBase(), "retryCap", options.retryCap());
        ordered("statementTimeout", options.statementTimeout(), "workerSocketTimeout", options.workerSocketTimeout());
        ordered("poll", options.poll(), "10 minutes", Duration.ofMinutes(10));
    }

    private static void ordered(String lower, Duration low, String upper, Duration high) {
        if (low.compareTo(high) > 0) {
            throw new InvalidDefinitionException(lower + " (" + low + ") must not be longer than " + upper + " (" + high
                    + "): the order lock < deadlock, lock < statement <= transaction <= lease / 2 keeps a claim from"
                    + " lapsing under its own batch. Shorten the first or lengthen the second.");
        }
    }

    static Duration duration(String name, Duration duration) {
        Objects.requireNonNull(duration, name);
        if (duration.compareTo(LEAST) < 0 || duration.compareTo(EngineOptions.MOST) > 0) {
            throw new InvalidDefinitionException(name + " must be 10 ms to 1 day, got " + duration + ".");
        }
        return duration;
    }

    static int within(String name, int value, int min, int max) {
        if (value < min || value > max) {
            throw new InvalidDefinitionException(name + " must be " + min + " to " + max + ", got " + value + ".");
        }
        return value;
    }
}
