package dev.backfill.postgres;

import dev.backfill.BackfillId;
import dev.backfill.Identifiers;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * Lets a contract migration begin only when its backfills have completed (SC-4): make it the first statement of the migration's own
 * transaction. It fails closed for every state but {@code completed}, for an ID that was never registered here, for a row of a newer
 * format, and where the library's tables are missing. Because completion is immutable, what it has seen stays true.
 *
 * <p>It can't see old writers: that they are gone is for the release notes (see {@code docs/evolve-schema.md}). Stateless,
 * thread-safe; changes nothing on the connection and ends no transaction.
 *
 * @since 0.1
 */
public final class ContractGuard {

    private static final int ROW_FORMAT = 1;

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
     * @param ids at least one
     * @throws NotCompletedException if one has not completed, naming each with its state
     * @throws SQLException if PostgreSQL could not be asked, which is no permission either
     */
    public static void requireCompletedIn(@Nullable String schema, Connection connection, String... ids)
            throws SQLException {
        if (ids.length == 0) {
            throw new IllegalArgumentException("a contract guard needs the ID of at least one backfill");
        }
        String[] checked =
                Arrays.stream(ids).map(id -> BackfillId.of(id).value()).toArray(String[]::new);
        String table = schema == null
                ? "backfill"
                : Identifiers.quote(Identifiers.check("schema", schema)) + "." + Identifiers.quote("backfill");
        if (!exists(connection, table)) {
            throw refused(String.join(", ", checked) + " can't be looked up, because there is no table " + table);
        }
        String open = open(connection, table, checked);
        if (!open.isEmpty()) {
            throw refused(open);
        }
    }

    private static NotCompletedException refused(String why) {
        return new NotCompletedException("This migration needs completed backfills, and was not begun: " + why
                + ". Deploy the version before it, let the backfills complete (an operator may have to start, resume or retry"
                + " them), then migrate again.");
    }

    private static boolean exists(Connection connection, String table) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement(
                "/* backfill:contract-guard */ SELECT pg_catalog.to_regclass(?) IS NOT NULL")) {
            statement.setString(1, table);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getBoolean(1);
            }
        }
    }

    private static String open(Connection connection, String table, String[] ids) throws SQLException {
        StringBuilder open = new StringBuilder();
        try (PreparedStatement statement =
                connection.prepareStatement("/* backfill:contract-guard */ SELECT r.id, CASE WHEN b.contract <> "
                        + ROW_FORMAT + " THEN 'in a row of a newer format'"
                        + " ELSE coalesce(b.state, 'not registered in this database') END"
                        + " FROM pg_catalog.unnest(?) WITH ORDINALITY AS r (id, i) LEFT JOIN " + table
                        + " AS b ON b.id = r.id WHERE b.state IS DISTINCT FROM 'completed' OR b.contract <> "
                        + ROW_FORMAT + " ORDER BY r.i")) {
            statement.setArray(1, connection.createArrayOf("text", ids));
            try (ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    open.append(open.isEmpty() ? "" : ", ")
                            .append(row.getString(1))
                            .append(" is ")
                            .append(row.getString(2));
                }
            }
        }
        return open.toString();
    }
}
