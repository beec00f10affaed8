package dev.backfill.postgres.internal.work;

import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.postgres.internal.batch.FailurePolicy.Decision;
import dev.backfill.postgres.internal.batch.FailurePolicy.Kind;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.Claim;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** Says which transactions the start barrier waits for: processes and ages, no query text. Thread-safe. */
public final class BarrierReport {

    private final Transactions transactions;
    private final FailureRecorder recorder;
    private final Sql open;

    /** Reads in those transactions. */
    public BarrierReport(Transactions transactions, Names names, FailureRecorder recorder) {
        this.transactions = transactions;
        this.recorder = recorder;
        this.open = names.sql("""
                /* backfill:barrier */ SELECT count(*) AS n, min(t.since) AS since,
                  (array_agg(t.who ORDER BY t.since))[1] AS who,
                  extract(epoch FROM pg_catalog.clock_timestamp() - min(t.since))::bigint AS age
                FROM (SELECT 'process ' || a.pid AS who, a.xact_start AS since, a.backend_xid::text::bigint AS xid
                      FROM pg_catalog.pg_stat_activity AS a WHERE a.backend_xid IS NOT NULL
                      UNION ALL
                      SELECT 'prepared transaction', p.prepared, p.transaction::text::bigint
                      FROM pg_catalog.pg_prepared_xacts AS p) AS t, {backfill} AS b
                WHERE b.id = :id AND t.xid < b.bound_xmax % 4294967296""");
    }

    /** What is to be done once a claim has waited longer than it may: an operator must look. */
    Step overdue(Claim claim) {
        String message = DiagnosticCode.START_BARRIER_TIMEOUT.meaning() + " " + describe(claim);
        Diagnostic why = Diagnostic.of(DiagnosticCode.START_BARRIER_TIMEOUT, message, null);
        return recorder.record(claim, new Decision(Kind.BLOCK, why, false));
    }

    /** They may have ended since, be of another history after a failover, or belong to roles that this one may not look at. */
    private static String nobodySeen() {
        return "No open transaction from before the start was seen: the last may have ended just now; if this stays,"
                + " grant pg_read_all_stats to the role to see whose they are.";
    }

    String describe(Claim claim) {
        try {
            return transactions.inTransaction(session -> {
                try (PreparedStatement statement = open.prepare(
                                session.connection(), Params.of("id", claim.id().value()));
                        ResultSet row = statement.executeQuery()) {
                    row.next();
                    long n = row.getLong("n");
                    return n == 0
                            ? nobodySeen()
                            : n + (n == 1 ? " transaction" : " transactions") + " from before the start, the oldest of "
                                    + row.getString("who") + " open for " + row.getLong("age") + " s.";
                }
            });
        } catch (SQLException e) {
            return "Transactions from before the start are open; whose could not be read.";
        }
    }
}
