package dev.backfill;

import java.sql.Connection;

/**
 * The transaction of one batch: READ COMMITTED, read-write, time zone UTC, under the batch's statement and lock timeouts. It commits
 * together with the checkpoint, or not at all (AT-1). Confined to the thread and to the call it was handed to.
 *
 * @since 0.1
 */
public interface RepairTransaction {

    /**
     * The connection, for statements and savepoints. Commit, rollback of the whole, auto-commit, close, abort, isolation, query
     * timeouts, {@code unwrap}, and commands of the transaction or session ({@code SET}, {@code set_config}, {@code LOCK},
     * {@code NOTIFY}, {@code LISTEN}, {@code LOAD}, SQL's {@code PREPARE} and {@code EXECUTE}, advisory locks of the session) are refused
     * with a {@link BackfillException}, and the batch is rolled back (AT-2). So set no query timeout in a library on top of it.
     */
    Connection connection();

    /** The fencing generation of the claim, for the author's own log lines. */
    long generation();
}
