package dev.backfill.postgres.internal.work;

import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.postgres.internal.batch.FailurePolicy.Decision;
import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.batch.PageSql;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.row.Values;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * Names the smallest failing key range in the diagnostic (RB-4): keys, nothing else of the row. Thread-safe.
 *
 * @param transactions short ones
 */
public record PoisonReport(Transactions transactions) {

    Decision named(HeldClaim held, Decision decision) {
        String range;
        try {
            range = transactions
                    .inTransaction(session -> next(session, held))
                    .map(key -> "Key (" + String.join(", ", key) + "). ")
                    .orElse("");
        } catch (SQLException e) {
            List<String> after = held.claim().after();
            range = after == null ? "The first key. " : "The key after (" + String.join(", ", after) + "). ";
        }
        Diagnostic why = decision.diagnostic();
        return new Decision(
                decision.kind(),
                Diagnostic.of(DiagnosticCode.DATA_ERROR, range + why.message(), why.sqlState()),
                false);
    }

    private static Optional<List<String>> next(Session session, HeldClaim held) throws SQLException {
        PageSql.Forms keys = new PageSql(held.prepared().key()).keys();
        try (PreparedStatement statement =
                        keys.of(held.claim()).prepare(session.connection(), PageSql.params(held.claim(), 1));
                ResultSet row = statement.executeQuery()) {
            return row.next() ? Optional.ofNullable(Values.texts(row, "key")) : Optional.empty();
        }
    }
}
