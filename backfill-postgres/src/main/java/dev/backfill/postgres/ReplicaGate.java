package dev.backfill.postgres;

import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.History;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
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

    private static final Pattern POSITION = Pattern.compile("(-?[0-9]+)/([0-9]+)/([0-9A-F]+/[0-9A-F]+)");

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
     * Whether a server has replayed up to a position.
     *
     * @since 0.1
     */
    public enum Replayed {
        /** It has: reads that rely on the backfill may go there. */
        YES,
        /** Not yet. */
        NO,
        /**
         * The position is of another history than the server's, or the server does not say which timeline it replays: it has no WAL
         * receiver, or the role lacks {@code pg_read_all_stats}. Keep the route closed, or ask {@link #hasReplayed}.
         */
        CANNOT_TELL
    }

    /**
     * Where a completion stands in the WAL: system identifier, timeline and LSN in one text, because an LSN alone means nothing on a
     * server of another history. To be read on the primary and compared with {@link #hasReplayedUpTo} on a replica.
     *
     * @param schema the schema of the library's tables; null for the search path
     * @param primary a connection that can read them
     * @param id which backfill; a part of a family by its own ID
     * @return the position, for instance {@code 7566312345678901234/1/16/B374D848}; empty where it is not completed
     */
    public static Optional<String> positionOf(@Nullable String schema, Connection primary, String id)
            throws SQLException {
        String table = schema == null ? "backfill" : new Names(schema).qualified("backfill");
        return text(
                primary,
                "SELECT pg_catalog.concat_ws('/', completed_system, completed_timeline, completed_lsn) FROM " + table
                        + " WHERE state = 'completed' AND completed_lsn IS NOT NULL AND id = ?",
                id);
    }

    /**
     * Whether the replica has replayed up to a position, for routers that compare positions and don't read tables. A server that is no
     * standby (any more) is asked for its own.
     *
     * @param replica a connection to the standby
     * @param position what {@link #positionOf} gave
     * @throws IllegalArgumentException if it is no such text; a plain LSN is none
     */
    public static Replayed hasReplayedUpTo(Connection replica, String position) throws SQLException {
        Matcher parts = POSITION.matcher(position);
        if (!parts.matches()) {
            throw new IllegalArgumentException(
                    "not a position of ReplicaGate.positionOf (system/timeline/lsn): " + position);
        }
        String same = "(" + History.SYSTEM + "::text, CASE WHEN pg_catalog.pg_is_in_recovery()"
                + " THEN (SELECT received_tli FROM pg_catalog.pg_stat_wal_receiver) ELSE " + History.TIMELINE
                + " END::text) = ('" + parts.group(1) + "', '" + parts.group(2) + "')";
        String answer = "SELECT CASE WHEN (" + same + ") IS NOT TRUE THEN 'CANNOT_TELL' WHEN ?::pg_catalog.pg_lsn <="
                + " CASE WHEN pg_catalog.pg_is_in_recovery() THEN pg_catalog.pg_last_wal_replay_lsn()"
                + " ELSE pg_catalog.pg_current_wal_lsn() END THEN 'YES' ELSE 'NO' END";
        return Replayed.valueOf(text(replica, answer, parts.group(3)).orElseThrow());
    }

    private static Optional<String> text(Connection connection, String sql, String parameter) throws SQLException {
        try (PreparedStatement statement = connection.prepareStatement("/* backfill:replica-gate */ " + sql)) {
            statement.setString(1, parameter);
            try (ResultSet row = statement.executeQuery()) {
                return row.next() ? Optional.ofNullable(row.getString(1)) : Optional.empty();
            }
        }
    }
}
