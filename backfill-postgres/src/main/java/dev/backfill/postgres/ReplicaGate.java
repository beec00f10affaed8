package dev.backfill.postgres;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import org.jspecify.annotations.Nullable;

/**
 * Whether a physical standby has replayed everything that a completed backfill wrote, so that reads which rely on it may be routed
 * there (SC-6). Once true for a standby it stays true. An exception is no permission: keep the route closed.
 *
 * <p>For streaming or file-based physical standbys. A logical subscriber applies tables in an order of its own, so neither question
 * has an answer there. Stateless, thread-safe; reads only.
 *
 * @since 0.1
 */
public final class ReplicaGate {

    private ReplicaGate() {}

    /** As {@link #hasReplayedIn}, with the library's tables found by the connection's search path. */
    public static boolean hasReplayed(Connection replica, String id) throws SQLException {
        return hasReplayedIn(null, replica, id);
    }

    /**
     * Whether the replica shows the backfill completed. The completion's commit comes after every batch in the WAL, so a server that
     * shows it has replayed them all. No for what can't be found there: the tables, the row, or a family that was never started.
     *
     * @param schema the schema of the library's tables; null for the search path
     * @param replica a connection to the standby
     * @param id which backfill, or the family whose parts all have to be completed
     */
    public static boolean hasReplayedIn(@Nullable String schema, Connection replica, String id) throws SQLException {
        return ContractGuard.notCompleted(schema, replica, id).isEmpty();
    }

    /**
     * Whether the replica has replayed up to a position, for instance {@code completedLsn()} of a snapshot read on the primary: for
     * routers that compare positions and don't read tables. A server that is no standby (any more) is asked for its own position.
     *
     * @param replica a connection to the standby
     * @param lsn a WAL position such as {@code 16/B374D848}
     */
    public static boolean hasReplayedUpTo(Connection replica, String lsn) throws SQLException {
        return isTrue(
                replica,
                "SELECT coalesce(?::pg_catalog.pg_lsn <= CASE WHEN pg_catalog.pg_is_in_recovery()"
                        + " THEN pg_catalog.pg_last_wal_replay_lsn() ELSE pg_catalog.pg_current_wal_lsn() END, false)",
                lsn);
    }

    private static boolean isTrue(Connection connection, String sql, String parameter) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("/* backfill:replica-gate */ " + sql)) {
            statement.setString(1, parameter);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() && row.getBoolean(1);
            }
        }
    }
}
