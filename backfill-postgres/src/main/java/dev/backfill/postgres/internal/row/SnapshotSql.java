package dev.backfill.postgres.internal.row;

import dev.backfill.BackfillId;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.migrate.Names;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * The read model: list and detail from one query each, from PostgreSQL at that moment (RM-1, RM-3). Who waits for which lock and
 * which validation runs is asked of the server, never remembered. Immutable.
 */
public final class SnapshotSql {

    private static final String SELECT = """
            /* backfill:snapshot */ WITH waiting AS MATERIALIZED (
              SELECT a.application_name AS name, a.pid, (pg_catalog.pg_blocking_pids(a.pid))[1] AS blocker, a.query_start AS since
              FROM pg_catalog.pg_stat_activity AS a
              WHERE a.application_name LIKE 'backfill #%' AND a.wait_event_type = 'Lock'
                AND a.datname = pg_catalog.current_database()),
            waiters AS MATERIALIZED (
              SELECT DISTINCT ON (w.name) w.name, w.pid, w.blocker, w.since,
                extract(epoch FROM pg_catalog.clock_timestamp() - o.xact_start)::bigint AS blocker_age
              FROM waiting AS w LEFT JOIN pg_catalog.pg_stat_activity AS o ON o.pid = w.blocker ORDER BY w.name, w.since),
            validators AS MATERIALIZED (
              SELECT DISTINCT l.classid AS class, l.objid::bigint AS no FROM pg_catalog.pg_locks AS l
              WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND l.granted
                AND l.database = (SELECT d.oid FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()))
            SELECT b.id, b.state, b.generation, b.claim_owner, b.claim_expires_at, b.bound, b.bound_empty, b.checkpoint, b.batches,
              b.rows_scanned, b.rows_changed, b.rows_estimated, b.worked_micros, b.attempts, b.next_attempt_at, b.failure_code,
              b.failure_message, b.failure_sql_state, b.failure_at, b.wait_reason, b.wait_detail, b.wait_since, b.registered_at,
              b.started_at, b.last_progress_at, b.validating_at, b.completed_at, b.completed_lsn, b.claimed_at,
              b.claim_token IS NOT NULL AS claimed, b.contract, b.key_codec AS row_codec,
              b.range_parts, b.range_low, d.family,
              coalesce(b.claim_expires_at > pg_catalog.statement_timestamp() AND NOT {beyond}, false) AS unexpired,
              coalesce(b.next_attempt_at > pg_catalog.statement_timestamp(), false) AS delayed,
              pg_catalog.statement_timestamp() AS as_of,
              pg_catalog.current_setting('transaction_read_only') = 'on' AS read_only,
              coalesce(d.description, '') AS description, coalesce(d.labels::text, '{}') AS labels,
              coalesce(b.key_codec, d.key_codec) AS key_codec,
              v.disposition, v.request_id, v.at AS validated_at, v.code, v.message, v.sql_state, v.running_request_id,
              v.running_since, r.no IS NOT NULL AS validating_now,
              w.pid AS waiter, w.blocker, w.blocker_age, w.since AS waits_since
            FROM {backfill} AS b
            LEFT JOIN {definition} AS d ON d.id = b.id
            LEFT JOIN {validation} AS v ON v.id = b.id
            LEFT JOIN validators AS r ON r.class = b.tableoid AND r.no = b.no
            LEFT JOIN waiters AS w ON w.name =\s""" + ApplicationName.SQL;

    private static final Map<String, String> BEYOND = Map.of("beyond", ClaimSql.BEYOND_ANY_LEASE);

    private final Sql list;
    private final Sql detail;

    /** Compiles the statements. */
    public SnapshotSql(Names names) {
        list = names.sql(SELECT + " ORDER BY b.id", BEYOND);
        detail = names.sql(SELECT + " WHERE b.id = :id", BEYOND);
    }

    /**
     * Turns a result row into something.
     *
     * @param <T> what
     */
    @FunctionalInterface
    public interface RowMapper<T> {
        /** Maps the current row. */
        T map(ResultSet row) throws SQLException;
    }

    /** Every backfill, by ID. */
    public <T> List<T> list(Session session, RowMapper<T> mapper) throws SQLException {
        List<T> found = new ArrayList<>();
        try (PreparedStatement statement = list.prepare(session.connection(), Params.none());
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                found.add(mapper.map(row));
            }
        }
        return found;
    }

    /** One backfill. */
    public <T> Optional<T> detail(Session session, BackfillId id, RowMapper<T> mapper) throws SQLException {
        try (PreparedStatement statement = detail.prepare(session.connection(), Params.of("id", id.value()));
                ResultSet row = statement.executeQuery()) {
            return row.next() ? Optional.of(mapper.map(row)) : Optional.empty();
        }
    }
}
