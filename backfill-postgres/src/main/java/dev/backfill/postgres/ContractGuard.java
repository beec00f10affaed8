package dev.backfill.postgres;

import dev.backfill.BackfillId;
import dev.backfill.Family;
import dev.backfill.Identifiers;
import dev.backfill.postgres.internal.row.Readable;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Lets a contract migration begin only when its backfills have completed (SC-4): make it the first statement of the migration's own
 * transaction. It fails closed for every state but {@code completed}, for an ID that was never registered here, for a row of a newer
 * format, and where the library's tables are missing. The ID of a {@link dev.backfill.Family} stands for all of its parts, as many as
 * its first start has stored; before that start it is closed. Because completion is immutable, what it has seen stays true.
 *
 * <p>It can't see old writers: that they are gone is for the release notes (see {@code docs/evolve-schema.md}). Stateless,
 * thread-safe; changes nothing on the connection and ends no transaction.
 *
 * @since 0.1
 */
public final class ContractGuard {

    private static final String SQL = "/* backfill:contract-guard */ ";

    private ContractGuard() {}

    /**
     * As {@link #requireCompletedIn}, with the library's tables found by the connection's search path.
     *
     * @throws NotCompletedException if one has not completed, naming each with its state
     * @throws SQLException if PostgreSQL could not be asked, which is no permission either
     */
    public static void requireCompleted(Connection connection, String... ids) throws SQLException {
        requireCompletedIn(null, connection, ids);
    }

    /**
     * Returns only if every one of these backfills has completed.
     *
     * @param schema the schema of the library's tables; null for the search path
     * @param connection the one that the migration uses, in its transaction
     * @param ids at least one, of backfills or families
     * @throws NotCompletedException if one has not completed, naming each with its state
     * @throws SQLException if PostgreSQL could not be asked, which is no permission either
     */
    public static void requireCompletedIn(@Nullable String schema, Connection connection, String... ids)
            throws SQLException {
        if (ids.length == 0) {
            throw new IllegalArgumentException("a contract guard needs the ID of at least one backfill");
        }
        String why = notCompleted(schema, connection, ids);
        if (!why.isEmpty()) {
            throw refused(why);
        }
    }

    /** Which of them have not completed, each with its state; empty if all have. */
    static String notCompleted(@Nullable String schema, Connection connection, String... ids) throws SQLException {
        String[] checked =
                Arrays.stream(ids).map(id -> BackfillId.of(id).value()).toArray(String[]::new);
        String table = named(schema, "backfill");
        if (!exists(connection, table)) {
            return String.join(", ", checked) + " can't be looked up, because there is no table " + table;
        }
        String families = named(schema, "backfill_family");
        // A database of the version before has no families.
        List<Wanted> wanted = exists(connection, families) ? expanded(connection, families, checked) : plain(checked);
        return open(connection, table, wanted);
    }

    private static NotCompletedException refused(String why) {
        return new NotCompletedException("This migration needs completed backfills, and was not begun: " + why
                + ". Deploy the version before it, let the backfills complete (an operator may have to start, resume or retry"
                + " them), then migrate again.");
    }

    private static boolean exists(Connection connection, String table) throws SQLException {
        try (PreparedStatement statement =
                connection.prepareStatement(SQL + "SELECT pg_catalog.to_regclass(?) IS NOT NULL")) {
            statement.setString(1, table);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getBoolean(1);
            }
        }
    }

    private static String named(@Nullable String schema, String table) {
        return schema == null
                ? table
                : Identifiers.quote(Identifiers.check("schema", schema)) + "." + Identifiers.quote(table);
    }

    /**
     * A row that has to be completed.
     *
     * @param id its ID
     * @param parts how many parts its family has; null where the caller named the row itself
     */
    private record Wanted(String id, @Nullable Integer parts) {}

    private static List<Wanted> plain(String[] ids) {
        return Arrays.stream(ids).map(id -> new Wanted(id, null)).toList();
    }

    /** Each family's parts instead of the family. */
    private static List<Wanted> expanded(Connection connection, String families, String[] ids) throws SQLException {
        List<Wanted> wanted = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(
                SQL + "SELECT r.id, f.parts FROM pg_catalog.unnest(?) WITH ORDINALITY AS r (id, i)" + " LEFT JOIN "
                        + families + " AS f ON f.family = r.id ORDER BY r.i")) {
            statement.setArray(1, connection.createArrayOf("text", ids));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    String id = row.getString(1);
                    int parts = row.getInt(2);
                    if (parts == 0) {
                        wanted.add(new Wanted(id, null));
                    }
                    for (int index = 0; index < parts; index++) {
                        wanted.add(new Wanted(
                                Family.partId(BackfillId.of(id), index).value(), parts));
                    }
                }
            }
        }
        return wanted;
    }

    private static String open(Connection connection, String table, List<Wanted> wanted) throws SQLException {
        List<String> open = new ArrayList<>();
        boolean hasRanges = wanted.stream().anyMatch(w -> w.parts() != null);
        try (PreparedStatement statement =
                connection.prepareStatement(SQL + "SELECT r.id, r.parts, b.contract, b.state, "
                        + (hasRanges ? "b.range_parts" : "NULL::integer")
                        + " FROM ROWS FROM (pg_catalog.unnest(?), pg_catalog.unnest(?)) WITH ORDINALITY AS r (id, parts, i) LEFT JOIN "
                        + table
                        + " AS b ON b.id = r.id ORDER BY r.i")) {
            statement.setArray(
                    1,
                    connection.createArrayOf(
                            "text", wanted.stream().map(Wanted::id).toArray()));
            statement.setArray(
                    2,
                    connection.createArrayOf(
                            "integer", wanted.stream().map(Wanted::parts).toArray()));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    String why = why(row);
                    if (why != null) {
                        open.add(row.getString(1) + " is " + why);
                    }
                }
            }
        }
        return String.join(", ", open);
    }

    /** Why a row is open; null when it is completed. */
    private static @Nullable String why(ResultSet row) throws SQLException {
        String state = row.getString(4);
        if (state == null) {
            return "not registered in this database, or a family that was never started";
        }
        if (!Readable.isKnown(row.getInt(3))) {
            return "in a row of a newer format";
        }
        if (!state.equals("completed")) {
            return state;
        }
        Integer wanted = row.getObject(2, Integer.class);
        Readable judged =
                wanted == null ? Readable.READABLE : Readable.ofRange(row.getObject(5, Integer.class), wanted);
        return judged.yes() ? null : "completed over another range than its family's";
    }
}
