package dev.backfill.postgres.internal.row;

import dev.backfill.TableName;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** How the server fares, from views that any role may read in part; what it may not see is null. Stateless. */
public final class HealthSql {

    /** The server's position in the WAL, in bytes, as SQL. */
    public static final String POSITION =
            "pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_insert_lsn(), '0/0')::bigint";

    private static final Sql SERVER = Sql.of("""
            /* backfill:health */ SELECT s.standbys, s.lag, s.hidden, r.slots, r.retained,
              pg_catalog.current_setting('archive_mode') <> 'off' AS archives, a.backlog, v.vacuums
            FROM (SELECT count(*) AS standbys, bool_or(replay_lsn IS NULL) AS hidden,
                max(CASE WHEN replay_lsn IS NOT NULL THEN coalesce(extract(epoch FROM replay_lag), 0) END)::float8 AS lag
              FROM pg_catalog.pg_stat_replication WHERE state IS NULL OR state = 'streaming') AS s,
              (SELECT count(*) AS slots,
                max(pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), restart_lsn))::float8 AS retained
              FROM pg_catalog.pg_replication_slots WHERE restart_lsn IS NOT NULL) AS r,
              (SELECT (pg_catalog.pg_wal_lsn_diff(pg_catalog.pg_current_wal_lsn(), '0/0') / w.size)::bigint - CASE
                  WHEN last_archived_wal ~ '^[0-9A-F]{24}$' THEN
                    ('x' || substr(last_archived_wal, 9, 8))::bit(32)::bigint * (4294967296 / w.size)
                    + ('x' || substr(last_archived_wal, 17, 8))::bit(32)::bigint + 1 END AS backlog
              FROM pg_catalog.pg_stat_archiver,
                (SELECT pg_catalog.pg_size_bytes(pg_catalog.current_setting('wal_segment_size')) AS size) AS w) AS a,
              (SELECT count(*) AS vacuums FROM pg_catalog.pg_stat_progress_vacuum
                WHERE relid = :table::text::pg_catalog.regclass) AS v""");

    private static final Sql BATCH = Sql.of("""
            /* backfill:health */ SELECT {position} AS wal,
              (SELECT count(*) FROM pg_catalog.pg_locks AS w
                WHERE NOT w.granted AND pg_catalog.pg_backend_pid() = ANY (pg_catalog.pg_blocking_pids(w.pid))) AS waiters""", Map.of("position", POSITION));

    private HealthSql() {}

    /**
     * What the server says.
     *
     * @param standbys streaming standbys
     * @param lag seconds that the slowest is behind; null when there is none
     * @param hidden whether this role may not see their positions
     * @param slots replication slots that hold WAL back
     * @param retained bytes they hold back; null when there is none
     * @param archives whether WAL is archived
     * @param backlog segments not archived yet; null when nothing was archived so far
     * @param vacuums vacuums running on the target
     */
    public record Server(
            long standbys,
            @Nullable Double lag,
            boolean hidden,
            long slots,
            @Nullable Double retained,
            boolean archives,
            @Nullable Double backlog,
            long vacuums) {}

    /** Asks. */
    public static Server server(Session session, TableName table) throws SQLException {
        try (PreparedStatement statement = SERVER.prepare(session.connection(), Params.of("table", table.quoted()));
                ResultSet row = statement.executeQuery()) {
            row.next();
            return new Server(
                    row.getLong("standbys"),
                    number(row, "lag"),
                    row.getBoolean("hidden"),
                    row.getLong("slots"),
                    number(row, "retained"),
                    row.getBoolean("archives"),
                    number(row, "backlog"),
                    row.getLong("vacuums"));
        }
    }

    private static @Nullable Double number(ResultSet row, String column) throws SQLException {
        double value = row.getDouble(column);
        return row.wasNull() ? null : value;
    }

    /**
     * Where a transaction stands.
     *
     * @param walPosition the server's position in the WAL, in bytes
     * @param waiters locks that others wait for because of this session
     */
    public record Mark(long walPosition, long waiters) {}

    /** Asks from inside a batch. */
    public static Mark mark(Session session) throws SQLException {
        try (PreparedStatement statement = BATCH.prepare(session.connection(), Params.none());
                ResultSet row = statement.executeQuery()) {
            row.next();
            return new Mark(row.getLong("wal"), row.getLong("waiters"));
        }
    }
}
