package dev.backfill;

import java.sql.Connection;

/**
 * Where audit records go; by default the library's own table. Called inside the transaction of the change, so that both commit or
 * neither (AU-3).
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
