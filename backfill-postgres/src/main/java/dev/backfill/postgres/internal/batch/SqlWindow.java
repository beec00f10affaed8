package dev.backfill.postgres.internal.batch;

import dev.backfill.DeleteRepair;
import dev.backfill.StatementRepair;
import dev.backfill.UpdateRepair;
import dev.backfill.internal.Identifiers;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.postgres.internal.batch.PageSql.Event;
import dev.backfill.postgres.internal.batch.PageSql.Forms;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.SqlText;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.KeySql;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** SQL over the window: one command, one snapshot. */
public final class SqlWindow implements WindowRepair {

    private final boolean triggers;
    private final boolean inOneFlush;
    private final boolean ofTheSource;
    private final Walk page;
    private final @Nullable Walk look;
    private final @Nullable Forms inNeed;

    /**
     * One command in its ways of being sent.
     *
     * @param command by itself
     * @param told with a second statement, which says where the page ends if the plan had a need to look
     * @param otherwise in one result, which always says it
     */
    private record Walk(Forms command, Forms told, Forms otherwise) {}

    /**
     * One.
     *
     * @param page over all rows of a page
     * @param look over those of a longer look that need it; null for none
     * @param inNeed the rows that need it; null where no condition says so
     */
    private SqlWindow(TableFacts facts, Event event, Walk page, @Nullable Walk look, @Nullable Forms inNeed) {
        this.ofTheSource = event != Event.OTHER;
        this.triggers = ofTheSource && facts.hasTriggers();
        this.inOneFlush = event == Event.UPDATE && !triggers;
        this.page = page;
        this.look = look;
        this.inNeed = inNeed;
    }

    static SqlWindow update(KeySql key, UpdateRepair repair, TableFacts facts, boolean byIndex) {
        String assignments = repair.assignments().entrySet().stream()
                .map(a -> Identifiers.quote(a.getKey()) + " = (" + fragment(a.getValue()) + ")")
                .collect(Collectors.joining(", "));
        String from = repair.from().map(tables -> "\nFROM " + fragment(tables)).orElse("");
        String condition = condition(key, repair, facts);
        boolean all =
                repair.condition().isEmpty() && differs(key, repair, facts).equals("true");
        // Whether a row needs it, asked row by row, would read the other tables of a FROM for each of them.
        boolean looksFurther = !all && repair.from().isEmpty();
        Optional<String> given = repair.condition().map(SqlWindow::fragment).filter(where -> looksFurther);
        PageSql.Command update = new PageSql(key).update(assignments, from, condition);
        return over(
                key,
                facts,
                Event.UPDATE,
                byIndex ? update.passingOver(given.orElse("true")) : update,
                looksFurther,
                given);
    }

    static SqlWindow delete(KeySql key, DeleteRepair repair, TableFacts facts, boolean byIndex) {
        String condition = repair.condition().map(SqlWindow::fragment).orElse("true");
        Optional<String> given = repair.condition().map(SqlWindow::fragment);
        PageSql.Command delete = new PageSql(key).delete(condition);
        return over(
                key, facts, Event.DELETE, byIndex ? delete.passingOver(condition) : delete, given.isPresent(), given);
    }

    private static SqlWindow over(
            KeySql key,
            TableFacts facts,
            Event event,
            PageSql.Command command,
            boolean looksFurther,
            Optional<String> given) {
        PageSql sql = new PageSql(key);
        Sql told = sql.told(facts.oid(), event);
        Walk page = new Walk(command.told(), command.told().then(told), command.returning());
        Walk look = new Walk(command.toldOfLook(), command.toldOfLook().then(told), command.returningOfLook());
        return new SqlWindow(
                facts,
                event,
                page,
                looksFurther ? look : null,
                given.map(sql::inNeed).orElse(null));
    }

    static SqlWindow statement(KeySql key, StatementRepair repair, TableFacts facts) {
        String sql = SqlText.withoutLeadingNoise(repair.over(PageSql.WINDOW));
        boolean with = sql.regionMatches(true, 0, "WITH", 0, 4);
        String rest = with ? sql.substring(4).strip() : sql;
        boolean recursive = with && rest.regionMatches(true, 0, "RECURSIVE", 0, 9);
        String statement = (with ? ", " : " ") + fragment(recursive ? rest.substring(9) : rest);
        PageSql page = new PageSql(key);
        Forms command = page.statement(recursive, repair.locksWindow() ? " FOR SHARE" : "", statement);
        Forms told = command.then(page.told(facts.oid(), Event.OTHER));
        return new SqlWindow(facts, Event.OTHER, new Walk(command, told, page.pageOnly()), null, null);
    }

    /** The line break ends a comment that the author may have left open. */
    private static String fragment(String sql) {
        return SqlText.escapeOperators(sql) + "\n";
    }

    private static String condition(KeySql key, UpdateRepair repair, TableFacts facts) {
        String join = repair.on().map(on -> "(" + fragment(on) + ") AND ").orElse("");
        String given = repair.condition().map(SqlWindow::fragment).orElse("true");
        String differs = repair.rewritesUnchanged() ? "true" : differs(key, repair, facts);
        if (differs.equals("true") || repair.condition().isEmpty()) {
            return join + "(" + given + ") AND " + differs;
        }
        // The expressions may fail for rows that the condition leaves out, and PostgreSQL may ask for conditions in any
        // order.
        return join + "(" + given + ") AND CASE WHEN (" + given + ") THEN " + differs + " ELSE false END";
    }

    /**
     * Whether a row's values would change: compared byte for byte, which every type can be, and not as equal, under which citext
     * would lose a repair.
     */
    private static String differs(KeySql key, UpdateRepair repair, TableFacts facts) {
        if (!facts.columns().keySet().containsAll(repair.assignments().keySet())) {
            // Preflight says which column is missing.
            return "true";
        }
        String now = repair.assignments().keySet().stream()
                .map(column -> key.alias() + "." + Identifiers.quote(column))
                .collect(Collectors.joining(", "));
        String then = repair.assignments().entrySet().stream()
                .map(a -> "(" + fragment(a.getValue()) + ")::"
                        + Objects.requireNonNull(facts.columns().get(a.getKey()))
                                .comparableType())
                .collect(Collectors.joining(", "));
        // As records: of two row constructors PostgreSQL would make a comparison by the types' own order.
        return "ROW(" + now + ")::record OPERATOR(pg_catalog.*<>) ROW(" + then + ")::record";
    }

    @Override
    public Forms first() {
        return first(page);
    }

    private Forms first(Walk walk) {
        // A statement's triggers fire for no row, too: with any, it must not be sent a second time, whatever its plan.
        return triggers ? walk.otherwise() : walk.told();
    }

    @Override
    public @Nullable Forms firstOfLook() {
        return look == null ? null : first(look);
    }

    @Override
    public @Nullable Forms inNeed() {
        return inNeed;
    }

    @Override
    public boolean looksAlone() {
        return triggers;
    }

    @Override
    public @Nullable Forms inOneFlush(WindowSize size) {
        return inOneFlush ? of(size).command() : null;
    }

    private Walk of(WindowSize size) {
        return size.looksFurther() && look != null ? look : page;
    }

    @Override
    public Forms planned() {
        return triggers ? page.otherwise() : page.command();
    }

    @Override
    public Window run(Session session, Claim claim, WindowSize size, PreparedStatement first)
            throws SQLException, BreachException {
        Window window = triggers ? returned(first, size) : told(first, size);
        return window == null ? runOtherwise(session, claim, size) : window;
    }

    /** Null, and nothing is changed, if the plan saw that no row can need the repair before it looked where the page ends. */
    private @Nullable Window told(PreparedStatement first, WindowSize size) throws SQLException, BreachException {
        long changed = first.getLargeUpdateCount();
        first.getMoreResults();
        try (ResultSet row = first.getResultSet()) {
            row.next();
            BreachException.throwIfReplaced(row.getBoolean("replaced"));
            List<String> last = Values.texts(row, "last");
            if (last == null && changed > 0) {
                throw untold(changed);
            }
            if (last == null) {
                return null;
            }
            // A function of the author's may change other rows of the table, which the command does not count.
            BreachException.throwIfBeyond(row.getLong("counted"), size.most(row.getLong("scanned")));
            return bounded(new Window(last, row.getLong("scanned"), changed), size);
        }
    }

    /** Something has taken the answer away, or never asked for it. To ask again would repair these rows a second time. */
    private BreachException untold(long changed) {
        return ofTheSource
                ? new BreachException(
                        DiagnosticCode.TRANSACTION_CONTROL_REFUSED,
                        "A function reset a setting of the transaction that says where the window ends.",
                        null)
                : new BreachException(
                        DiagnosticCode.WINDOW_EXCEEDED,
                        "The statement changed " + changed + " rows and took none from {window}.",
                        null);
    }

    /** In another form, which always says where the page ends. */
    private Window runOtherwise(Session session, Claim claim, WindowSize size) throws SQLException, BreachException {
        try (PreparedStatement statement =
                of(size).otherwise().of(claim).prepare(session.connection(), PageSql.params(claim, size))) {
            statement.execute();
            return returned(statement, size);
        }
    }

    private Window returned(PreparedStatement statement, WindowSize size) throws SQLException, BreachException {
        try (ResultSet row = statement.getResultSet()) {
            row.next();
            return bounded(new Window(Values.texts(row, "last"), row.getLong("scanned"), row.getLong("changed")), size);
        }
    }

    /** A statement may change any number of rows of other tables. */
    private Window bounded(Window window, WindowSize size) throws BreachException {
        if (ofTheSource) {
            BreachException.throwIfBeyond(window.changed(), size.most(window.scanned()));
        }
        return window;
    }
}
