package dev.backfill.postgres;

import dev.backfill.BackfillId;
import dev.backfill.Family;
import dev.backfill.InvalidDefinitionException;
import dev.backfill.TableName;
import dev.backfill.internal.Identifiers;
import dev.backfill.postgres.internal.row.Readable;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
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
 * <p>A new database, of a developer, of CI or of a tenant, has nothing to repair, and its backfills were never registered when its
 * migrations run. Name the source table with {@link #over}, and the guard passes there: no row of the ID and no row in the source.
 *
 * <p>It can't see old writers: that they are gone is for the release notes (see {@code docs/evolve-schema.md}). Immutable and
 * thread-safe; changes nothing on the connection and ends no transaction.
 *
 * @since 0.1
 */
public final class ContractGuard {

    private static final String SQL = "/* backfill:contract-guard */ ";

    private final List<String> ids;
    private final @Nullable TableName source;
    private final @Nullable String schema;

    private ContractGuard(List<String> ids, @Nullable TableName source, @Nullable String schema) {
        this.ids = ids;
        this.source = source;
        this.schema = schema;
    }

    /**
     * A guard that needs every one of these completed.
     *
     * @param ids at least one, of backfills or families
     */
    public static ContractGuard of(String... ids) {
        if (ids.length == 0) {
            throw new IllegalArgumentException("a contract guard needs the ID of at least one backfill");
        }
        return new ContractGuard(
                Arrays.stream(ids).map(id -> BackfillId.of(id).value()).toList(), null, null);
    }

    /**
     * The same guard, which also passes where there is nothing to repair: an ID that has no row here counts as completed while the
     * source table has no row either. That is looked at under an {@code ACCESS EXCLUSIVE} lock on the source, which the migration
     * takes anyway; on a connection in auto-commit mode, where no lock would last, it is looked at without one. A row of the ID in any
     * other state is refused as ever, and so is a source table that does not exist.
     *
     * @param table the source of the definitions, {@code table} or {@code schema.table}
     */
    public ContractGuard over(String table) {
        return new ContractGuard(ids, TableName.of(table), schema);
    }

    /** The same guard, with the library's tables in this schema instead of on the search path. */
    public ContractGuard inSchema(String name) {
        return new ContractGuard(ids, source, Identifiers.check("schema", name, InvalidDefinitionException::new));
    }

    /**
     * Returns only if every one of them has completed: {@code ContractGuard.of(ids).check(connection)}.
     *
     * @throws NotCompletedException if one has not completed, naming each with its state
     * @throws SQLException if PostgreSQL could not be asked, which is no permission either
     */
    public static void requireCompleted(Connection connection, String... ids) throws SQLException {
        of(ids).check(connection);
    }

    /**
     * Returns only if the migration may begin.
     *
     * @param connection the one that the migration uses, in its transaction
     * @throws NotCompletedException if a backfill has not completed, naming each with its state
     * @throws SQLException if PostgreSQL could not be asked, which is no permission either
     */
    public void check(Connection connection) throws SQLException {
        List<Open> open = open(schema, connection, ids);
        if (open.isEmpty() || (source != null && isNothingToRepair(source, connection, open))) {
            return;
        }
        throw new NotCompletedException("This migration needs completed backfills, and was not begun: " + named(open)
                + ". Deploy the version before it, let the backfills complete (an operator may have to start, resume or retry"
                + " them), then migrate again. Where the database is new and has nothing to repair, give the guard the source"
                + " table.");
    }

    private boolean isNothingToRepair(TableName table, Connection connection, List<Open> open) throws SQLException {
        if (!open.stream().allMatch(Open::unregistered)) {
            return false;
        }
        try (Statement statement = connection.createStatement()) {
            if (!connection.getAutoCommit()) {
                statement.execute(SQL + "LOCK TABLE " + table.quoted() + " IN ACCESS EXCLUSIVE MODE");
            }
            // Registered while the lock was waited for: then somebody means to repair it.
            if (!open(schema, connection, ids).stream().allMatch(Open::unregistered)) {
                return false;
            }
            try (ResultSet row =
                    statement.executeQuery(SQL + "SELECT NOT EXISTS (SELECT FROM " + table.quoted() + ")")) {
                return row.next() && row.getBoolean(1);
            }
        }
    }

    /**
     * A row that is not completed.
     *
     * @param text the ID and its state, for people
     * @param unregistered whether there is no row at all
     */
    private record Open(String text, boolean unregistered) {}

    private static String named(List<Open> open) {
        return String.join(", ", open.stream().map(Open::text).toList());
    }

    /** Which of them have not completed, each with its state; empty if all have. */
    static String notCompleted(@Nullable String schema, Connection connection, String... ids) throws SQLException {
        return named(open(schema, connection, of(ids).ids));
    }

    private static List<Open> open(@Nullable String schema, Connection connection, List<String> ids)
            throws SQLException {
        String table = named(schema, "backfill");
        if (!exists(connection, table)) {
            return List.of(
                    new Open(String.join(", ", ids) + " can't be looked up, because there is no table " + table, true));
        }
        String families = named(schema, "backfill_family");
        // A database of the version before has no families.
        List<Wanted> wanted = exists(connection, families) ? expanded(connection, families, ids) : plain(ids);
        return open(connection, table, wanted);
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
                : Identifiers.quote(Identifiers.check("schema", schema, InvalidDefinitionException::new)) + "."
                        + Identifiers.quote(table);
    }

    /**
     * A row that has to be completed.
     *
     * @param id its ID
     * @param parts how many parts its family has; null where the caller named the row itself
     */
    private record Wanted(String id, @Nullable Integer parts) {}

    private static List<Wanted> plain(List<String> ids) {
        return ids.stream().map(id -> new Wanted(id, null)).toList();
    }

    /** Each family's parts instead of the family. */
    private static List<Wanted> expanded(Connection connection, String families, List<String> ids) throws SQLException {
        List<Wanted> wanted = new ArrayList<>();
        try (PreparedStatement statement = connection.prepareStatement(
                SQL + "SELECT r.id, f.parts FROM pg_catalog.unnest(?) WITH ORDINALITY AS r (id, i)" + " LEFT JOIN "
                        + families + " AS f ON f.family = r.id ORDER BY r.i")) {
            statement.setArray(1, connection.createArrayOf("text", ids.toArray()));
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

    private static List<Open> open(Connection connection, String table, List<Wanted> wanted) throws SQLException {
        List<Open> open = new ArrayList<>();
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
                        open.add(new Open(row.getString(1) + " is " + why, row.getString(4) == null));
                    }
                }
            }
        }
        return open;
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
