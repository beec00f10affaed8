package dev.backfill.postgres.internal.control;

import dev.backfill.operate.AuditRecord;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.row.AuditSql;
import java.sql.SQLException;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Audit records that belong to no change, each in a transaction of its own. Thread-safe.
 *
 * @param transactions where they are written
 * @param sql writes them
 */
public record AuditTrail(Transactions transactions, AuditSql sql) {

    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    /** Writes one; false if that could not be done. */
    boolean write(AuditRecord entry) {
        try {
            transactions.inTransaction(session -> {
                sql.write(session, entry);
                return true;
            });
            return true;
        } catch (SQLException e) {
            LOG.atWarn().log("A denial could not be written to the audit");
            return false;
        }
    }
}
