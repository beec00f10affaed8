package dev.backfill.postgres.internal.jdbc;

import dev.backfill.BackfillException;

/** Definition code tried to control the transaction or the session (AT-2). */
public final class TransactionControlRefusedException extends BackfillException {

    private static final long serialVersionUID = 1L;

    TransactionControlRefusedException(String what) {
        super(what
                + " is refused inside a batch or a validation: the engine owns the transaction, so that rows and checkpoint"
                + " commit together. Remove it.");
    }
}
