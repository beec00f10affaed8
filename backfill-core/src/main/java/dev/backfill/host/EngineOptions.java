package dev.backfill.host;

import dev.backfill.BackfillDefinition;
import dev.backfill.InvalidDefinitionException;
import java.time.Duration;
import java.util.Objects;

/**
 * Time limits, workers and retries of one engine. The order that keeps claims safe is checked when it is built: lock timeout below
 * the deadlock timeout and the statement timeout, statement at most transaction, lease at least twice the transaction. Immutable.
 *
 * @since 0.1
 */
public final class EngineOptions {

    /** The longest of any duration here, a lease among them. */
    public static final Duration MOST = Duration.ofDays(1);

    private final Builder is;

    private EngineOptions(Builder is) {
        this.is = is;
    }

    /** The defaults. */
    public static EngineOptions defaults() {
        return builder().build();
    }

    /** Collects options, each at its default. */
    public static Builder builder() {
        return new Builder();
    }

    /** See {@link Builder#workers}. */
    public int workers() {
        return is.workers;
    }

    /** See {@link Builder#lease}. */
    public Duration lease() {
        return is.lease;
    }

    /** See {@link Builder#transactionTimeout}. */
    public Duration transactionTimeout() {
        return is.transactionTimeout;
    }

    /** See {@link Builder#statementTimeout}. */
    public Duration statementTimeout() {
        return is.statementTimeout;
    }

    /** See {@link Builder#lockTimeout}. */
    public Duration lockTimeout() {
        return is.lockTimeout;
    }

    /** See {@link Builder#idleInTransactionTimeout}. */
    public Duration idleInTransactionTimeout() {
        return is.idleInTransactionTimeout;
    }

    /** See {@link Builder#poll}. */
    public Duration poll() {
        return is.poll;
    }

    /** See {@link Builder#retryBase}. */
    public Duration retryBase() {
        return is.retryBase;
    }

    /** See {@link Builder#retryCap}. */
    public Duration retryCap() {
        return is.retryCap;
    }

    /** See {@link Builder#maxAttempts}. */
    public int maxAttempts() {
        return is.maxAttempts;
    }

    /** See {@link Builder#contentionBudget}. */
    public int contentionBudget() {
        return is.contentionBudget;
    }

    /** See {@link Builder#barrierTimeout}. */
    public Duration barrierTimeout() {
        return is.barrierTimeout;
    }

    /** See {@link Builder#validationTimeout}. */
    public Duration validationTimeout() {
        return is.validationTimeout;
    }

    /** See {@link Builder#closeTimeout}. */
    public Duration closeTimeout() {
        return is.closeTimeout;
    }

    /** See {@link Builder#workerSocketTimeout}. */
    public Duration workerSocketTimeout() {
        return is.workerSocketTimeout;
    }

    /** See {@link Builder#operatorTimeout}. */
    public Duration operatorTimeout() {
        return is.operatorTimeout;
    }

    /** See {@link Builder#batchSizeCap}. */
    public int batchSizeCap() {
        return is.batchSizeCap;
    }

    /** See {@link Builder#fusedCommit}. */
    public boolean fusedCommit() {
        return is.fusedCommit;
    }

    /** See {@link Builder#preparedStatements}. */
    public boolean preparedStatements() {
        return is.preparedStatements;
    }

    /** See {@link Builder#health}. */
    public HealthLimits health() {
        return is.health;
    }

    /**
     * Collects options. Confined to one thread. Each setter throws {@link InvalidDefinitionException} for a value out of range; a
     * duration must be 10 ms to 1 day.
     */
    public static final class Builder implements Cloneable {

        private int workers = 1;
        private Duration lease = Duration.ofSeconds(30);
        private Duration transactionTimeout = Duration.ofSeconds(10);
        private Duration statementTimeout = Duration.ofSeconds(5);
        private Duration lockTimeout = Duration.ofMillis(250);
        private Duration idleInTransactionTimeout = Duration.ofSeconds(5);
        private Duration poll = Duration.ofSeconds(1);
        private Duration retryBase = Duration.ofSeconds(1);
        private Duration retryCap = Duration.ofSeconds(60);
        private int maxAttempts = 10;
        private int contentionBudget = 100;
        private Duration barrierTimeout = Duration.ofMinutes(5);
        private Duration validationTimeout = Duration.ofMinutes(5);
        private Duration closeTimeout = Duration.ofSeconds(8);
        private Duration workerSocketTimeout = Duration.ofSeconds(20);
        private Duration operatorTimeout = Duration.ofSeconds(8);
        private int batchSizeCap = BackfillDefinition.MAX_BATCH_SIZE;
        private boolean fusedCommit = true;
        private boolean preparedStatements = true;
        private HealthLimits health = HealthLimits.defaults();

        private Builder() {}

        /** Claim workers in this process; 0 to 64, default 1. With 0 the host steps workers itself. */
        public Builder workers(int count) {
            this.workers = OptionRules.within("workers", count, 0, 64);
            return this;
        }

        /** How long a claim holds without renewal; default 30 s, at least twice the transaction timeout. */
        public Builder lease(Duration duration) {
            this.lease = OptionRules.duration("lease", duration);
            return this;
        }

        /** The longest a batch transaction may take; default 10 s. */
        public Builder transactionTimeout(Duration duration) {
            this.transactionTimeout = OptionRules.duration("transactionTimeout", duration);
            return this;
        }

        /** The longest one statement of a batch may take; default 5 s, at most the transaction timeout. */
        public Builder statementTimeout(Duration duration) {
            this.statementTimeout = OptionRules.duration("statementTimeout", duration);
            return this;
        }

        /** The longest a batch waits for a lock; default 250 ms, below the server's deadlock timeout (1 s) and the statement timeout, so that the repair and never the application is the victim. */
        public Builder lockTimeout(Duration duration) {
            this.lockTimeout = OptionRules.duration("lockTimeout", duration);
            return this;
        }

        /** The longest a batch may leave its transaction idle; default 5 s. */
        public Builder idleInTransactionTimeout(Duration duration) {
            this.idleInTransactionTimeout = OptionRules.duration("idleInTransactionTimeout", duration);
            return this;
        }

        /** How often an idle worker looks, give or take half; default 1 s, 10 ms to 10 min. */
        public Builder poll(Duration duration) {
            this.poll = OptionRules.duration("poll", duration);
            return this;
        }

        /** The first retry delay, doubled each time, with full jitter; default 1 s. */
        public Builder retryBase(Duration duration) {
            this.retryBase = OptionRules.duration("retryBase", duration);
            return this;
        }

        /** The longest retry delay; default 60 s, at least the base. */
        public Builder retryCap(Duration duration) {
            this.retryCap = OptionRules.duration("retryCap", duration);
            return this;
        }

        /** Claims without committed progress before the row fails; 1 to 1000, default 10. */
        public Builder maxAttempts(int count) {
            this.maxAttempts = OptionRules.within("maxAttempts", count, 1, 1000);
            return this;
        }

        /** Contention and connection failures without committed progress before the row fails; 1 to 100000, default 100. */
        public Builder contentionBudget(int count) {
            this.contentionBudget = OptionRules.within("contentionBudget", count, 1, 100000);
            return this;
        }

        /** How long the start barrier may wait before the row is blocked; default 5 min. */
        public Builder barrierTimeout(Duration duration) {
            this.barrierTimeout = OptionRules.duration("barrierTimeout", duration);
            return this;
        }

        /** The longest a validation may take; default 5 min. */
        public Builder validationTimeout(Duration duration) {
            this.validationTimeout = OptionRules.duration("validationTimeout", duration);
            return this;
        }

        /** How long close waits for workers; default 8 s. */
        public Builder closeTimeout(Duration duration) {
            this.closeTimeout = OptionRules.duration("closeTimeout", duration);
            return this;
        }

        /** How long a worker waits for an answer of the server, and so how long a frozen one holds it; default 20 s, at least the statement timeout. */
        public Builder workerSocketTimeout(Duration duration) {
            this.workerSocketTimeout = OptionRules.duration("workerSocketTimeout", duration);
            return this;
        }

        /** How long an operator call waits for the server; default 8 s. */
        public Builder operatorTimeout(Duration duration) {
            this.operatorTimeout = OptionRules.duration("operatorTimeout", duration);
            return this;
        }

        /** Caps every definition's batch size in this process, for tests and small hosts; default none. Never raises one. */
        public Builder batchSizeCap(int count) {
            this.batchSizeCap = OptionRules.within("batchSizeCap", count, 1, BackfillDefinition.MAX_BATCH_SIZE);
            return this;
        }

        /** Whether fence and COMMIT travel in one flush; default true. The plain form is the readable reference and one round trip longer. */
        public Builder fusedCommit(boolean enabled) {
            this.fusedCommit = enabled;
            return this;
        }

        /** Whether engine statements may be prepared on the server; default true. Switch off behind PgBouncer below 1.21. */
        public Builder preparedStatements(boolean enabled) {
            this.preparedStatements = enabled;
            return this;
        }

        /** From when on the database counts as strained, so that backfills rest; default {@link HealthLimits#defaults}. */
        public Builder health(HealthLimits limits) {
            this.health = Objects.requireNonNull(limits, "limits");
            return this;
        }

        /**
         * Sets the lease and scales what must fit into it: transaction and idle timeout a third, statement a sixth but at least
         * 500 ms, lock 250 ms but at most half a statement. What a worker waits for the server is two thirds of the lease, 2 to 20 s, and
         * at least two statements.
         *
         * @param duration the lease, 1.5 s or more
         */
        public Builder scaledToLease(Duration duration) {
            lease(duration);
            transactionTimeout(duration.dividedBy(3));
            idleInTransactionTimeout(duration.dividedBy(3));
            Duration sixth = duration.dividedBy(6);
            Duration statement = sixth.toMillis() < 500 ? Duration.ofMillis(500) : sixth;
            statementTimeout(statement);
            Duration within = duration.multipliedBy(2).dividedBy(3);
            if (workerSocketTimeout.compareTo(within) > 0) {
                workerSocketTimeout(within.toSeconds() < 2 ? Duration.ofSeconds(2) : within);
            }
            if (workerSocketTimeout.compareTo(statement.multipliedBy(2)) < 0) {
                workerSocketTimeout(statement.multipliedBy(2));
            }
            Duration half = statement.dividedBy(2);
            return lockTimeout(half.toMillis() < 250 ? half : Duration.ofMillis(250));
        }

        /**
         * The options.
         *
         * @throws InvalidDefinitionException if their order would let a claim lapse under its own batch
         */
        public EngineOptions build() {
            EngineOptions options = new EngineOptions(clone());
            OptionRules.inOrder(options);
            return options;
        }

        /** What is built keeps its values, whatever becomes of the builder. */
        @Override
        protected Builder clone() {
            try {
                return (Builder) super.clone();
            } catch (CloneNotSupportedException e) {
                throw new AssertionError(e);
            }
        }
    }
}
