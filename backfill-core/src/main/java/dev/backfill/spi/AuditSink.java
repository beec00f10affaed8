package dev.backfill.spi;

import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.BackfillOperations;
import java.sql.Connection;

/**
 * Where audit records go; by default the library's own table. Called inside the transaction of the change, so that both commit or
 * neither (AU-3); denials have one of their own. The table is not written then, so {@link BackfillOperations#audit}, the API and the
 * console show no new records.
 *
 * <p>Called on worker, operator and boot threads, by several at once. Commit, rollback and session commands on the connection are refused.
 *
 * @since 0.1
 */
@FunctionalInterface
public interface AuditSink {

    /**
     * Writes a record on the connection of the open transaction, without ending it.
     *
     * @throws Exception undoes the change; the caller is told that the request may be repeated
     */
    void write(Connection transaction, AuditRecord entry) throws Exception;
}
