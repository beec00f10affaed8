package dev.backfill.postgres.internal.jdbc;

import dev.backfill.host.EngineOptions;
import java.time.Duration;

/**
 * What bounds one transaction, enforced by PostgreSQL and gone with the transaction (BB-2). Nothing is set for the session, which a
 * pool would hand on to somebody else.
 *
 * @param statement longest statement
 * @param lock longest wait for a lock
 * @param idle longest pause between statements
 * @param transaction longest transaction, enforced by PostgreSQL 17 and newer and by the fence everywhere
 */
public record Limits(Duration statement, Duration lock, Duration idle, Duration transaction) {

    private static final Duration AFTER_THE_STATEMENT = Duration.ofMillis(250);

    // Off first: a timer that a setting of the role has started in this transaction is not set anew, only stopped.
    private static final String TRANSACTION_TIMEOUT =
            "pg_catalog.set_config('transaction_timeout', CASE pg_catalog.set_config('transaction_timeout', '0', true)"
                    + " WHEN '0' THEN '%d' END, true)";

    /** The limits of a batch. */
    public static Limits ofBatch(EngineOptions options) {
        return new Limits(
                options.statementTimeout(),
                options.lockTimeout(),
                options.idleInTransactionTimeout(),
                options.transactionTimeout());
    }

    /** The limits of a short transaction on the library's own tables, which may wait longer for the row's lock. */
    public static Limits ofControl(EngineOptions options, Duration lockWait) {
        Duration all = options.operatorTimeout();
        // Well inside the socket's timeout, which is all of it: the server's answer says what was in the way, a dead
        // socket does not.
        Duration statement = all.multipliedBy(3).dividedBy(4);
        Duration half = all.dividedBy(2);
        return new Limits(statement, lockWait.compareTo(half) < 0 ? lockWait : half, all, all);
    }

    /** The limits of a validation: read only, so it may take long without being in anybody's way. */
    public static Limits ofValidation(EngineOptions options) {
        return ofOneLongStatement(options.validationTimeout(), options.lockTimeout());
    }

    /**
     * Limits under which one statement may take all the time there is. PostgreSQL 17 and newer arm the limit of a statement only if it is
     * shorter than that of the transaction, whose end takes the connection with it.
     */
    public static Limits ofOneLongStatement(Duration most, Duration lock) {
        return new Limits(most, lock, most, most.plus(AFTER_THE_STATEMENT));
    }

    /**
     * The select items that set them. They ride along with the first statement of a transaction; UTC, and the settings that choose the
     * text of other types, make the text of keys and the result of a repair the same on every host.
     */
    public String asSelectItems() {
        return set("statement_timeout", statement) + ", " + set("lock_timeout", lock) + ", "
                + set("idle_in_transaction_session_timeout", idle)
                + ", CASE WHEN pg_catalog.current_setting('server_version_num')::integer >= 170000 THEN "
                + TRANSACTION_TIMEOUT.formatted(Math.max(1, transaction.toMillis())) + " END"
                // Only where the kernel can tell that the client is gone.
                + ", CASE WHEN pg_catalog.version() LIKE '%linux%' THEN "
                + set("client_connection_check_interval", Duration.ofSeconds(2)) + " END"
                + ", pg_catalog.set_config('row_security', 'off', true), pg_catalog.set_config('TimeZone', 'UTC', true)"
                + ", pg_catalog.set_config('extra_float_digits', '1', true), pg_catalog.set_config('bytea_output', 'hex', true)"
                + ", pg_catalog.set_config('IntervalStyle', 'postgres', true)"
                + ", pg_catalog.set_config('synchronous_commit', CASE pg_catalog.current_setting('synchronous_commit')"
                + " WHEN 'off' THEN 'on' ELSE pg_catalog.current_setting('synchronous_commit') END, true)";
    }

    private static String set(String name, Duration value) {
        return "pg_catalog.set_config('" + name + "', '" + Math.max(1, value.toMillis()) + "', true)";
    }
}
