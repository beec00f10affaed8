package dev.backfill.postgres.internal.row;

import dev.backfill.host.EngineOptions;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Diagnostic;
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
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * How work ends other than by a committed batch: delayed, blocked, failed, completed. Each statement asks for the same claim as the
 * fence does, after the row's lock was had, so that a stale owner can't record anything (RB-1, VA-3). Immutable.
 */
public final class OutcomeSql {

    private static final String OWNED = """

            WHERE id = :id AND generation = :generation AND claim_token = :token
              AND claim_expires_at > pg_catalog.clock_timestamp()""";

    private static final String FAILURE = """
            failure_code = :code, failure_message = :message, failure_sql_state = :sql_state,
              failure_at = pg_catalog.clock_timestamp(), wait_reason = NULL, wait_detail = NULL, wait_since = NULL""";

    private static final String UNCLAIMED =
            "claim_token = NULL, claim_owner = NULL, claimed_at = NULL, claim_expires_at = NULL";

    // Full jitter: a fleet that failed together must not come back together. The exponent is capped, or power()
    // overflows.
    private static final String DELAY = """
            next_attempt_at = pg_catalog.clock_timestamp() + random() * least(:cap_millis::double precision,
              :base_millis::double precision * power(2, least(30, greatest(0, %s - 1)))) * interval '1 millisecond'""";

    private final ClaimSql claims;
    private final EngineOptions options;
    private final Sql delayCharged;
    private final Sql delayContended;
    private final Sql narrow;
    private final Sql end;
    private final Sql complete;
    private final Sql completeUnclaimed;
    private final Sql exhaust;

    /** Compiles the statements. */
    public OutcomeSql(Names names, ClaimSql claims, EngineOptions options) {
        this.claims = claims;
        this.options = options;
        String working = " AND state IN ('running', 'validating')";
        delayCharged = names.sql("/* backfill:delay */ UPDATE {backfill} SET " + UNCLAIMED + ", "
                + DELAY.formatted("attempts") + ", " + FAILURE + OWNED + working);
        // Contention has its own budget: the attempt is given back, and counted there.
        delayContended = names.sql("/* backfill:delay */ UPDATE {backfill} SET " + UNCLAIMED
                + ", attempts = greatest(attempts - 1, 0), contended = contended + 1, "
                + DELAY.formatted("contended + 1") + ", " + FAILURE + OWNED + working);
        narrow = names.sql("/* backfill:narrow */ UPDATE {backfill} SET " + FAILURE
                + ", claim_expires_at = pg_catalog.clock_timestamp() + :lease_millis * interval '1 millisecond'" + OWNED
                + " AND state = 'running'");
        end = names.sql(
                "/* backfill:end */ UPDATE {backfill} SET state = :state, generation = generation + 1, " + UNCLAIMED
                        + ", next_attempt_at = NULL, " + FAILURE + OWNED + " AND state IN ("
                        + sources(BackfillState.FAILED) + ")");
        String completed = "/* backfill:complete */ UPDATE {backfill} SET state = 'completed', "
                + "completed_at = pg_catalog.clock_timestamp(), completed_lsn = pg_catalog.pg_current_wal_insert_lsn()::text, "
                + "completed_system = " + History.SYSTEM + ", completed_timeline = " + History.TIMELINE + ", "
                + UNCLAIMED + ", attempts = 0, contended = 0, next_attempt_at = NULL, failure_code = NULL,"
                + " failure_message = NULL, failure_sql_state = NULL, failure_at = NULL,"
                + " wait_reason = NULL, wait_detail = NULL, wait_since = NULL%s";
        String reached =
                " AND state IN (" + sources(BackfillState.COMPLETED) + ") AND (bound_empty OR checkpoint = bound)";
        complete = names.sql(completed.formatted("") + OWNED + reached);
        // An operator's validation holds no claim. It may take the completion from a worker, whose claim it then
        // invalidates. After a failover a generation may come again, so that it alone would not say what was judged.
        completeUnclaimed = names.sql(completed.formatted(", generation = generation + 1")
                + " WHERE id = :id AND generation = :generation" + reached
                + " AND " + History.SYSTEM + " = :system AND " + History.TIMELINE + " = :timeline");
        exhaust = names.sql("""
                /* backfill:exhaust */ UPDATE {backfill} SET state = 'failed', generation = generation + 1, claim_token = NULL,
                  claim_owner = NULL, claimed_at = NULL, claim_expires_at = NULL, next_attempt_at = NULL,
                """ + FAILURE + """

                WHERE id = :id AND state IN ('running', 'validating') AND attempts >= :max_attempts
                  AND (claim_token IS NULL OR claim_expires_at <= pg_catalog.clock_timestamp() OR {beyond})
                RETURNING generation""", Map.of("beyond", ClaimSql.BEYOND_ANY_LEASE));
    }

    private static String sources(BackfillState target) {
        return target.sources().stream().map(s -> "'" + s.wireName() + "'").collect(Collectors.joining(", "));
    }

    /** Releases the claim and permits the next one after a jittered, capped backoff; whether the claim was still ours. */
    public boolean delay(Session session, Claim claim, Diagnostic why, boolean contention) throws SQLException {
        claims.lock(session, claim.id());
        Params params = failure(ClaimSql.of(claim), why)
                .and("base_millis", options.retryBase().toMillis())
                .and("cap_millis", options.retryCap().toMillis());
        return (contention ? delayContended : delayCharged).update(session.connection(), params) == 1;
    }

    /** Records a failure that the claim's owner goes on to narrow down; whether the claim was still ours. */
    public boolean narrow(Session session, Claim claim, Diagnostic why) throws SQLException {
        claims.lock(session, claim.id());
        return narrow.update(
                        session.connection(),
                        failure(ClaimSql.of(claim), why)
                                .and("lease_millis", options.lease().toMillis()))
                == 1;
    }

    /** Enters {@code blocked} or {@code failed}; whether the claim was still ours. */
    public boolean end(Session session, Claim claim, BackfillState state, Diagnostic why) throws SQLException {
        claims.lock(session, claim.id());
        return end.update(session.connection(), failure(ClaimSql.of(claim), why).and("state", state.wireName())) == 1;
    }

    /** Completes for ever under a claim; whether every precondition still held. */
    public boolean complete(Session session, Claim claim) throws SQLException {
        claims.lock(session, claim.id());
        return complete.update(session.connection(), ClaimSql.of(claim)) == 1;
    }

    /** Completes for ever without a claim, fenced by the generation that was validated and its history; whether both still held. */
    public boolean completeUnclaimed(Session session, String id, long generation, History judged) throws SQLException {
        Params params = Params.of("id", id)
                .and("generation", generation)
                .and("system", judged.system())
                .and("timeline", judged.timeline());
        return completeUnclaimed.update(session.connection(), params) == 1;
    }

    /** Fails a row whose owners died without progress as often as is allowed; the new generation, or null if it moved on. */
    public @Nullable Long exhaust(Session session, String id, Diagnostic why) throws SQLException {
        Params params = failure(Params.of("id", id), why).and("max_attempts", options.maxAttempts());
        List<Long> generations = new ArrayList<>();
        try (PreparedStatement statement = exhaust.prepare(session.connection(), params);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                generations.add(row.getLong("generation"));
            }
        }
        return generations.isEmpty() ? null : generations.get(0);
    }

    private static Params failure(Params params, Diagnostic why) {
        return params.and("code", why.code()).and("message", why.message()).and("sql_state", why.sqlState());
    }
}
