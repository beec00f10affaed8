package dev.backfill.postgres.internal.engine;

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
import java.util.stream.Collectors;

/** SQL over the window: one statement, one snapshot, one round trip. */
final class SetWindow implements WindowRepair {

    private final PageSql.Pair update;

    SetWindow(KeySql key, SetRepair repair) {
        String assignments = repair.assignments().stream()
                .map(a -> Identifiers.quote(a.column()) + " = (" + SqlText.escapeOperators(a.expression()) + "\n)")
                .collect(Collectors.joining(", "));
        update = new PageSql(key).update(assignments, condition(repair));
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
    public Window run(Session session, Claim claim, int limit) throws SQLException {
        try (PreparedStatement statement =
                        update.of(claim).prepare(session.connection(), PageSql.params(claim, limit));
                ResultSet row = statement.executeQuery()) {
            row.next();
            return new Window(Values.texts(row, "last"), row.getLong("scanned"), row.getLong("changed"));
        }
    }
}
