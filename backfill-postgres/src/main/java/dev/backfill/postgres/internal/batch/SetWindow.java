package dev.backfill.postgres.internal.batch;

import dev.backfill.Identifiers;
import dev.backfill.UpdateRepair;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.SqlText;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.KeySql;
import dev.backfill.postgres.internal.row.Values;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** SQL over the window: one UPDATE, one snapshot, one round trip. */
public final class SetWindow implements WindowRepair {

    private final boolean triggers;
    private final PageSql.Forms update;
    private final PageSql.Forms told;
    private final PageSql.Forms returning;

    SetWindow(KeySql key, UpdateRepair repair, TableFacts facts) {
        String assignments = repair.assignments().entrySet().stream()
                .map(a -> Identifiers.quote(a.getKey()) + " = (" + SqlText.escapeOperators(a.getValue()) + "\n)")
                .collect(Collectors.joining(", "));
        PageSql page = new PageSql(key);
        triggers = facts.hasTriggers();
        update = page.update(assignments, condition(repair));
        told = update.then(page.told(facts.oid()));
        returning = page.updateReturning(assignments, condition(repair));
    }

    /** Without a condition of the author's, only rows that would differ: an unchanged row must not be rewritten. */
    private static String condition(UpdateRepair repair) {
        // The line break ends a comment that the author may have left open.
        return repair.condition()
                .map(given -> SqlText.escapeOperators(given) + "\n")
                .orElseGet(() -> repair.assignments().entrySet().stream()
                        .map(a -> Identifiers.quote(a.getKey()) + " IS DISTINCT FROM ("
                                + SqlText.escapeOperators(a.getValue()) + "\n)")
                        .collect(Collectors.joining(" OR ")));
    }

    @Override
    public PageSql.Forms first() {
        // A statement's triggers fire for no row, too: with any, it must not be sent a second time, whatever its plan.
        return triggers ? returning : told;
    }

    @Override
    public boolean looksAlone() {
        return triggers;
    }

    @Override
    public PageSql.@Nullable Forms inOneFlush() {
        return triggers ? null : update;
    }

    @Override
    public PageSql.Forms planned() {
        return triggers ? returning : update;
    }

    @Override
    public Window run(Session session, Claim claim, int limit, PreparedStatement first)
            throws SQLException, BreachException {
        Window window = triggers ? returned(first) : told(first);
        return window == null ? runReturning(session, claim, limit) : window;
    }

    /** Null, and nothing is changed, if the plan saw that no row can need the repair before it looked where the page ends. */
    private static @Nullable Window told(PreparedStatement first) throws SQLException, BreachException {
        long changed = first.getLargeUpdateCount();
        first.getMoreResults();
        try (ResultSet row = first.getResultSet()) {
            row.next();
            BreachException.throwIfReplaced(row.getBoolean("replaced"));
            List<String> last = Values.texts(row, "last");
            if (last == null && changed > 0) {
                // Something has taken the answer away. To ask again would repair these rows a second time.
                throw new BreachException(
                        DiagnosticCode.TRANSACTION_CONTROL_REFUSED,
                        "A function reset a setting of the transaction that says where the window ends.",
                        null);
            }
            if (last == null) {
                return null;
            }
            // A function of the author's may change other rows of the table, which the command does not count.
            BreachException.throwIfBeyond(row.getLong("counted"), row.getLong("scanned"));
            return bounded(new Window(last, row.getLong("scanned"), changed));
        }
    }

    /** The same in one result, which always says where the page ends. */
    private Window runReturning(Session session, Claim claim, int limit) throws SQLException, BreachException {
        try (PreparedStatement statement =
                returning.of(claim).prepare(session.connection(), PageSql.params(claim, limit))) {
            statement.execute();
            return returned(statement);
        }
    }

    private static Window returned(PreparedStatement statement) throws SQLException, BreachException {
        try (ResultSet row = statement.getResultSet()) {
            row.next();
            return bounded(new Window(Values.texts(row, "last"), row.getLong("scanned"), row.getLong("changed")));
        }
    }

    private static Window bounded(Window window) throws BreachException {
        BreachException.throwIfBeyond(window.changed(), window.scanned());
        return window;
    }
}
