package dev.backfill.postgres.internal.engine;

import dev.backfill.DiagnosticCode;
import dev.backfill.Identifiers;
import dev.backfill.SetRepair;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.SqlText;
import dev.backfill.postgres.internal.store.Claim;
import dev.backfill.postgres.internal.store.KeySql;
import dev.backfill.postgres.internal.store.PageSql;
import dev.backfill.postgres.internal.store.Values;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Collectors;

/** SQL over the window: one UPDATE, one snapshot, one round trip. */
final class SetWindow implements WindowRepair {

    private final PageSql.Pair update;
    private final PageSql.Pair sent;
    private final PageSql.Pair returning;

    SetWindow(KeySql key, SetRepair repair) {
        String assignments = repair.assignments().stream()
                .map(a -> Identifiers.quote(a.column()) + " = (" + SqlText.escapeOperators(a.expression()) + "\n)")
                .collect(Collectors.joining(", "));
        PageSql page = new PageSql(key);
        update = page.update(assignments, condition(repair));
        sent = update.then(PageSql.told());
        returning = page.updateReturning(assignments, condition(repair));
    }

    /** Without a condition of the author's, only rows that would differ: an unchanged row must not be rewritten. */
    private static String condition(SetRepair repair) {
        String given = repair.condition();
        if (given != null) {
            // The line break ends a comment that the author may have left open.
            return SqlText.escapeOperators(given) + "\n";
        }
        return repair.assignments().stream()
                .map(a -> Identifiers.quote(a.column()) + " IS DISTINCT FROM ("
                        + SqlText.escapeOperators(a.expression()) + "\n)")
                .collect(Collectors.joining(" OR "));
    }

    @Override
    public PageSql.Pair statement() {
        return update;
    }

    @Override
    public Window run(Session session, Claim claim, int limit) throws SQLException, BreachException {
        try (PreparedStatement statement = sent.of(claim).prepare(session.connection(), PageSql.params(claim, limit))) {
            statement.execute();
            long changed = statement.getLargeUpdateCount();
            statement.getMoreResults();
            try (ResultSet row = statement.getResultSet()) {
                row.next();
                List<String> last = Values.texts(row, "last");
                if (last != null) {
                    return new Window(last, row.getLong("scanned"), changed);
                }
                if (changed > 0) {
                    // Something has taken the answer away. To ask again would repair these rows a second time.
                    throw new BreachException(
                            DiagnosticCode.TRANSACTION_CONTROL_REFUSED,
                            "A trigger or function reset a setting of the transaction that says where the window ends.",
                            null);
                }
            }
        }
        return runReturning(session, claim, limit);
    }

    /** The page was empty, or the plan saw that no row can need the repair, before it looked where the page ends. */
    private Window runReturning(Session session, Claim claim, int limit) throws SQLException {
        try (PreparedStatement statement =
                        returning.of(claim).prepare(session.connection(), PageSql.params(claim, limit));
                ResultSet row = statement.executeQuery()) {
            row.next();
            return new Window(Values.texts(row, "last"), row.getLong("scanned"), row.getLong("changed"));
        }
    }
}
