package dev.backfill.postgres.internal.row;

import dev.backfill.BackfillId;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.migrate.Names;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;

/** Acquires, takes over, renews, releases and reclaims the one claim (CL-1, CL-4, CL-5). Immutable. */
public final class ClaimSql {

    private static final int LOOK_LIMIT = 256;

    /**
     * A claim that expires further ahead than any lease lasts is of a time to which the server's clock was set back: it is not live, or
     * nobody could take over (CL-4).
     */
    static final String BEYOND_ANY_LEASE =
            "claim_expires_at > pg_catalog.clock_timestamp() + interval '" + EngineOptions.MOST.toHours() + " hours'";

    private static final String CLAIMABLE = """
            state IN ('running', 'validating')
              AND (claim_token IS NULL OR claim_expires_at <= pg_catalog.clock_timestamp() OR %s)
              AND (next_attempt_at IS NULL OR next_attempt_at <= pg_catalog.clock_timestamp())""".formatted(BEYOND_ANY_LEASE);

    private static final String RETURNED =
            "b.id, b.no, b.state, b.generation, b.claim_token, b.claim_owner, b.bound, b.range_low, b.checkpoint, b.attempts, b.contended, "
                    + History.SYSTEM + " AS system, " + History.TIMELINE + " AS timeline";

    // An ID of another history is compared with nothing: a new barrier is taken, and its clock begins anew (SR-6).
    private static final String ANEW =
            "b.barrier_passed_at IS NULL AND b.bound_xmax IS NOT NULL AND (b.barrier_system, b.barrier_timeline)"
                    + " IS DISTINCT FROM (" + History.SYSTEM + ", " + History.TIMELINE + ")";

    private static final String BARRIER = "barrier_since = CASE WHEN " + ANEW
            + " THEN pg_catalog.clock_timestamp() ELSE coalesce(b.barrier_since, pg_catalog.clock_timestamp()) END,"
            + " bound_xmax = CASE WHEN " + ANEW + " THEN pg_catalog.pg_current_xact_id()::text::bigint"
            + " ELSE coalesce(b.bound_xmax, pg_catalog.pg_current_xact_id()::text::bigint) END,"
            + " barrier_system = CASE WHEN b.barrier_passed_at IS NULL THEN " + History.SYSTEM
            + " ELSE b.barrier_system END,"
            + " barrier_timeline = CASE WHEN b.barrier_passed_at IS NULL THEN " + History.TIMELINE
            + " ELSE b.barrier_timeline END";

    // One statement is right here: "is expired" never turns false again, so evaluating it before the lock is harmless.
    // MATERIALIZED and FROM keep the locked row and the updated row the same one under every plan.
    private static final String ACQUIRE =
            "/* backfill:claim */ WITH c AS MATERIALIZED (SELECT id, claim_token AS former FROM {backfill} AS b WHERE "
                    + CLAIMABLE + " AND " + Readability.FORMAT_SQL + """
                 AND id = ANY (:ids) AND attempts < :max_attempts
                 ORDER BY next_attempt_at NULLS FIRST, id LIMIT 1 FOR NO KEY UPDATE SKIP LOCKED)
                UPDATE {backfill} AS b SET generation = b.generation + 1, claim_token = :token, claim_owner = :owner,
                  claimed_at = pg_catalog.clock_timestamp(),
                  claim_expires_at = pg_catalog.clock_timestamp() + :lease_millis * interval '1 millisecond',
                  attempts = b.attempts + 1, next_attempt_at = NULL,
                  wait_reason = NULL, wait_detail = NULL,
                  wait_since = CASE WHEN b.wait_reason <> 'schema' THEN b.wait_since END,
                  target_schema = :target_schema, target_table = :target_table, target_oid = :target_oid,
                  target_database = :target_database, target_system = :target_system,
                """ + BARRIER
                    + " FROM c WHERE b.id = c.id RETURNING "
                    + RETURNED + ", c.former";

    private static final String RENEW = """
                /* backfill:renew */ UPDATE {backfill} SET
                  claim_expires_at = pg_catalog.clock_timestamp() + :lease_millis * interval '1 millisecond',
                  wait_since = CASE WHEN :wait_reason::text IS NULL THEN NULL
                    WHEN coalesce(wait_reason, :wait_reason) = :wait_reason THEN coalesce(wait_since, pg_catalog.clock_timestamp())
                    ELSE pg_catalog.clock_timestamp() END,
                  wait_reason = :wait_reason, wait_detail = :wait_detail
                WHERE id = :id AND state IN ('running', 'validating') AND generation = :generation AND claim_token = :token
                  AND claim_expires_at > pg_catalog.clock_timestamp()""";

    private static final String RELEASE = """
                /* backfill:release */ UPDATE {backfill} SET claim_token = NULL, claim_owner = NULL, claimed_at = NULL,
                  claim_expires_at = NULL, attempts = greatest(attempts - 1, 0),
                  wait_reason = NULL, wait_detail = NULL, wait_since = NULL
                WHERE id = :id AND state IN ('running', 'validating') AND generation = :generation AND claim_token = :token""";

    // The reason stays until the claim after the next one has something to say, and so does since when it holds.
    private static final String GIVE_BACK = """
                /* backfill:release */ UPDATE {backfill} SET claim_token = NULL, claim_owner = NULL, claimed_at = NULL,
                  claim_expires_at = NULL, attempts = greatest(attempts - 1, 0),
                  next_attempt_at = pg_catalog.clock_timestamp() + :rest_millis * interval '1 millisecond',
                  wait_since = CASE WHEN coalesce(wait_reason, :wait_reason) = :wait_reason
                    THEN coalesce(wait_since, pg_catalog.clock_timestamp()) ELSE pg_catalog.clock_timestamp() END,
                  wait_reason = :wait_reason, wait_detail = :wait_detail
                WHERE id = :id AND state IN ('running', 'validating') AND generation = :generation AND claim_token = :token""";

    private static final String ANNOTATE = """
                /* backfill:annotate */ UPDATE {backfill} SET wait_reason = :reason, wait_detail = :detail,
                  wait_since = CASE WHEN wait_reason = :reason THEN wait_since ELSE pg_catalog.clock_timestamp() END
                WHERE id = :id AND state IN ('running', 'validating') AND claim_token IS NULL
                  AND (wait_reason, wait_detail) IS DISTINCT FROM (:reason, :detail)""";

    // Queues behind a transaction that is still in flight, so what it returns is settled (RB-3, AT-3).
    private static final String RECLAIM = """
                /* backfill:reclaim */ UPDATE {backfill} AS b SET generation = b.generation + 1, claim_token = :new_token,
                  claimed_at = pg_catalog.clock_timestamp(),
                  claim_expires_at = pg_catalog.clock_timestamp() + :lease_millis * interval '1 millisecond'
                WHERE id = :id AND state IN ('running', 'validating') AND generation = :generation AND claim_token = :token
                RETURNING\s""" + RETURNED + ", NULL::uuid AS former";

    private final Sql look;
    private final Sql lookAmong;
    private final Sql acquire;
    private final Sql lock;
    private final Sql renew;
    private final Sql release;
    private final Sql giveBack;
    private final Sql reclaim;
    private final Sql annotate;

    /** Compiles the statements for the library's tables. */
    public ClaimSql(Names names) {
        String lookAt =
                "/* backfill:look */ SELECT id, contract, key_codec, range_parts, attempts, claim_owner, wait_reason, target_schema, target_table,"
                        + " target_oid, target_database, target_system FROM {backfill} WHERE "
                        + CLAIMABLE + "%s ORDER BY next_attempt_at NULLS FIRST, id LIMIT " + LOOK_LIMIT;
        look = names.sql(lookAt.formatted(""));
        lookAmong = names.sql(lookAt.formatted(" AND id = ANY (:ids)"));
        acquire = names.sql(ACQUIRE);
        lock = names.sql("/* backfill:lock */ SELECT 1 FROM {backfill} WHERE id = :id FOR NO KEY UPDATE");
        renew = names.sql(RENEW);
        release = names.sql(RELEASE);
        giveBack = names.sql(GIVE_BACK);
        annotate = names.sql(ANNOTATE);
        reclaim = names.sql(RECLAIM);
    }

    /**
     * A row that is open to a claim, looked at without a lock.
     *
     * @param id as it stands in the table
     * @param contract its row format
     * @param keyCodec its key codec
     * @param rangeParts how many parts its family has; null for a whole source
     * @param attempts claims since the last progress
     * @param lostOwner who let the claim lapse, or null
     * @param waitedFor what its claim was given back for, or null
     * @param target the table it works on; empty before it was pinned
     */
    public record Candidate(
            String id,
            int contract,
            @Nullable String keyCodec,
            @Nullable Integer rangeParts,
            int attempts,
            @Nullable String lostOwner,
            @Nullable String waitedFor,
            Optional<Target> target) {

        /** What decides whether this process can read it (ID-5). */
        public Readability.Facts facts() {
            return new Readability.Facts(contract, true, keyCodec, rangeParts);
        }
    }

    /** Rows open to a claim, at most 256; among the given IDs, or among all for null. */
    public List<Candidate> look(Session session, @Nullable Collection<String> among) throws SQLException {
        Params params = among == null ? Params.none() : Params.of("ids", among.toArray(new String[0]));
        List<Candidate> found = new ArrayList<>();
        try (PreparedStatement statement = (among == null ? look : lookAmong).prepare(session.connection(), params);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                found.add(new Candidate(
                        row.getString("id"),
                        row.getInt("contract"),
                        row.getString("key_codec"),
                        Values.integer(row, "range_parts"),
                        row.getInt("attempts"),
                        row.getString("claim_owner"),
                        row.getString("wait_reason"),
                        Target.of(row)));
            }
        }
        return found;
    }

    /** Whether a look may have left rows out. */
    public static boolean wasCut(List<Candidate> found) {
        return found.size() >= LOOK_LIMIT;
    }

    /**
     * Acquires one of the candidates, or takes it over; empty when others were quicker. Charges an attempt (RB-5).
     *
     * @param target the table that it works on, which is kept anew where the database was restored on another server
     */
    public Optional<Claim> acquire(
            Session session, Collection<String> ids, Target target, String owner, Duration lease, int maxAttempts)
            throws SQLException {
        Params params = target.params()
                .and("ids", ids.toArray(new String[0]))
                .and("max_attempts", maxAttempts)
                .and("token", UUID.randomUUID())
                .and("owner", owner)
                .and("lease_millis", lease.toMillis());
        return one(session, acquire, params);
    }

    /**
     * Renews a valid claim, and says why its work waits.
     *
     * @param waitReason wire name of the reason, or null when nothing waits
     * @return whether the claim was still valid
     */
    public boolean renew(
            Session session, Claim claim, Duration lease, @Nullable String waitReason, @Nullable String waitDetail)
            throws SQLException {
        // Two statements: the lease is looked at after the lock was had, or an expired owner could renew.
        lock(session, claim.id());
        Params params = of(claim)
                .and("lease_millis", lease.toMillis())
                .and("wait_reason", waitReason)
                .and("wait_detail", waitDetail);
        return renew.update(session.connection(), params) == 1;
    }

    /** Locks the row until the transaction ends; whether it exists. */
    public boolean lock(Session session, BackfillId id) throws SQLException {
        try (PreparedStatement statement = lock.prepare(session.connection(), Params.of("id", id.value()));
                ResultSet row = statement.executeQuery()) {
            return row.next();
        }
    }

    /** Says why nobody may claim a row, if nobody holds it; its generation and claim stay as they are. */
    public void annotate(Session session, String id, String reason, String detail) throws SQLException {
        annotate.update(
                session.connection(), Params.of("id", id).and("reason", reason).and("detail", detail));
    }

    /** Gives the claim back and its attempt with it; whether it was still this one's. */
    public boolean release(Session session, Claim claim) throws SQLException {
        return release.update(session.connection(), of(claim)) == 1;
    }

    /**
     * Gives the claim back because its work has to wait, at no charge (BB-5).
     *
     * @param reason wire name of what it waits for
     * @param rest how long nobody may claim it, in any process
     * @return whether it was still this one's
     */
    public boolean giveBack(Session session, Claim claim, String reason, String detail, Duration rest)
            throws SQLException {
        Params params = of(claim)
                .and("rest_millis", rest.toMillis())
                .and("wait_reason", reason)
                .and("wait_detail", detail);
        return giveBack.update(session.connection(), params) == 1;
    }

    /** After an unknown COMMIT: the same claim under a new generation and token, with what really is the checkpoint. */
    public Optional<Claim> reclaim(Session session, Claim claim, Duration lease) throws SQLException {
        return one(
                session, reclaim, of(claim).and("new_token", UUID.randomUUID()).and("lease_millis", lease.toMillis()));
    }

    /** What identifies a claim in every statement of its owner. */
    public static Params of(Claim claim) {
        return Params.of("id", claim.id().value())
                .and("generation", claim.generation())
                .and("token", claim.token());
    }

    private static Optional<Claim> one(Session session, Sql sql, Params params) throws SQLException {
        try (PreparedStatement statement = sql.prepare(session.connection(), params);
                ResultSet row = statement.executeQuery()) {
            return row.next() ? Optional.of(claim(row)) : Optional.empty();
        }
    }

    private static Claim claim(ResultSet row) throws SQLException {
        return new Claim(
                BackfillId.of(row.getString("id")),
                row.getInt("no"),
                BackfillState.ofWireName(row.getString("state")),
                row.getLong("generation"),
                row.getObject("claim_token", UUID.class),
                Objects.requireNonNullElse(row.getString("claim_owner"), ""),
                Values.texts(row, "bound"),
                Values.texts(row, "range_low"),
                Values.texts(row, "checkpoint"),
                row.getInt("attempts"),
                row.getInt("contended"),
                row.getString("former") != null,
                new History(row.getLong("system"), row.getInt("timeline")));
    }
}
