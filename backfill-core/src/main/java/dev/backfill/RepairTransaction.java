package dev.backfill;

import java.sql.Connection;

/**
 * The transaction of one batch: READ COMMITTED, read-write, time zone UTC, under the batch's statement and lock timeouts. It commits
 * together with the checkpoint, or not at all (AT-1). Confined to the worker thread and to the call it was handed to.
 *
 * @since 0.1
 */
public interface RepairTransaction {

    /**
     * The connection, for statements and savepoints. Commit, rollback of the whole, auto-commit, close, abort, isolation and
     * session or transaction commands are refused with a {@link BackfillException}, and the batch is rolled back (AT-2).
     */
    Connection connection();

    /** The fencing generation of the claim, for the author's own log lines. */
    long generation();
}
