package dev.backfill.postgres.internal.batch;

import dev.backfill.host.EngineOptions;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.ClaimSql;
import dev.backfill.postgres.internal.row.KeySql;
import dev.backfill.postgres.internal.row.Target;
import dev.backfill.postgres.internal.row.Values;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.postgresql.util.PSQLException;

/**
 * The fence: the last statement of a batch, which advances the checkpoint and proves that the batch may commit (CL-2, AT-1). The
 * plain form is fence, look at the count, COMMIT; the fused form sends all three in one flush, so that a frozen client can't hold
 * the row's lock between them. Immutable; compiled per key.
 */
public final class FenceSql {

    /** What the server answers when the fused fence misses: the division by the count of changed rows. */
    public static final String MISSED = "22012";

    private static final String LOCK = "/* backfill:lock */ SELECT 1 FROM {backfill} WHERE id = :id FOR NO KEY UPDATE";

    // Each predicate has a test that dies without it; see docs/conformance.md.
    private static final String FENCE = """
            UPDATE {backfill} AS b SET
              {advance}
              batches = b.batches + 1, rows_scanned = b.rows_scanned + :scanned, rows_changed = b.rows_changed + :changed,
              worked_micros = b.worked_micros + greatest(0, (extract(epoch FROM pg_catalog.clock_timestamp()
                - greatest(b.claimed_at, b.last_progress_at)) * 1000000)::bigint),
              attempts = 0, contended = 0, next_attempt_at = NULL,
              failure_code = NULL, failure_message = NULL, failure_sql_state = NULL, failure_at = NULL,
              wait_reason = NULL, wait_detail = NULL, wait_since = NULL,
              last_progress_at = pg_catalog.clock_timestamp(),
              claim_expires_at = pg_catalog.clock_timestamp() + :lease_millis * interval '1 millisecond'
            WHERE b.id = :id
              AND b.state = 'running'
              AND b.generation = :generation
              AND b.claim_token = :token
              AND b.claim_expires_at > pg_catalog.clock_timestamp()
              AND {began}
              AND {window}
              AND {pinned}
              AND pg_catalog.pg_current_xact_id_if_assigned()::text = :xid
              AND pg_catalog.current_setting('transaction_isolation') = 'read committed'
              AND pg_catalog.clock_timestamp() - pg_catalog.now() <= :limit_millis * interval '1 millisecond'
            RETURNING b.state""";

    // Whoever commits a batch has waited for the barrier; from here on no transaction ID is compared (SR-6).
    private static final String PASSED =
            "barrier_passed_at = coalesce(b.barrier_passed_at, pg_catalog.clock_timestamp()),";

    private static final String ADVANCE = """
            checkpoint = CASE WHEN {new} = {bound} THEN b.bound ELSE :new::text[] END,
              state = CASE WHEN {new} = {bound} THEN 'validating' ELSE b.state END,
              validating_at = CASE WHEN {new} = {bound} THEN pg_catalog.clock_timestamp() ELSE b.validating_at END,""";

    private static final String ADVANCE_EMPTY = "state = 'validating', validating_at = pg_catalog.clock_timestamp(),";

    private static final String AFTER_CHECKPOINT =
            "b.checkpoint = :previous::text[] AND {new} > {previous} AND {new} <= {bound}";
    private static final String AFTER_LOW = "b.checkpoint IS NULL AND {new} > {low} AND {new} <= {bound}";
    private static final String BEFORE_EVERYTHING = "b.checkpoint IS NULL AND {new} <= {bound}";

    // No parameter where there is no lower end: a NULL without a type would cost the flush its pipelining.
    private static final String BEGAN_WITH_THE_FIRST_KEY = "b.range_low IS NULL";
    private static final String BEGAN_AFTER_A_KEY = "b.range_low = :low::text[]";

    private final Form first;
    private final Form firstOfRange;
    private final Form later;
    private final Form laterOfRange;
    private final Form empty;
    private final Sql breach;
    private final long leaseMillis;
    private final long limitMillis;
    private final boolean fused;
    private final String table;

    /**
     * Compiles the fence for a key.
     *
     * @param barrier whether a batch has waited for the start barrier
     */
    public FenceSql(Names names, KeySql key, EngineOptions options, boolean barrier) {
        table = key.table();
        Map<String, String> keys = Map.of(
                "new", key.ofArray(":new::text[]"),
                "previous", key.ofArray("b.checkpoint"),
                "low", key.ofArray("b.range_low"),
                "bound", key.ofArray("b.bound"));
        String advance = fill(ADVANCE, keys) + (barrier ? PASSED : "");
        String after = fill(AFTER_CHECKPOINT, keys);
        first = new Form(names, advance, fill(BEFORE_EVERYTHING, keys), BEGAN_WITH_THE_FIRST_KEY);
        firstOfRange = new Form(names, advance, fill(AFTER_LOW, keys), BEGAN_AFTER_A_KEY);
        later = new Form(names, advance, after, BEGAN_WITH_THE_FIRST_KEY);
        laterOfRange = new Form(names, advance, after, BEGAN_AFTER_A_KEY);
        empty = new Form(names, ADVANCE_EMPTY + (barrier ? PASSED : ""), "b.bound_empty", BEGAN_WITH_THE_FIRST_KEY);
        breach = names.sql(fill(
                "/* backfill:breach */ SELECT coalesce({new} > {previous}, {new} > {low}, b.checkpoint IS NULL) AS forward,"
                        + " {new} <= {bound} AS within, " + Target.ELSEWHERE
                        + " AS elsewhere FROM {backfill} AS b WHERE b.id = :id",
                keys));
        leaseMillis = options.lease().toMillis();
        limitMillis = options.transactionTimeout().toMillis();
        fused = options.fusedCommit();
    }

    private static String fill(String template, Map<String, String> keys) {
        String filled = template;
        for (Map.Entry<String, String> key : keys.entrySet()) {
            filled = filled.replace("{" + key.getKey() + "}", key.getValue());
        }
        return filled;
    }

    /**
     * What a batch did, as the fence counts it.
     *
     * @param checkpoint the greatest key of the window; null only for an empty source
     * @param scanned keys in the window
     * @param changed rows changed
     */
    public record Work(@Nullable List<String> checkpoint, long scanned, long changed) {}

    /**
     * Fences and commits.
     *
     * @param xid the transaction ID read when the batch began
     * @return the state after it; empty when a guard refused and nothing can be committed
     * @throws SQLException whatever it says, the outcome is unknown until the row is asked (AT-3)
     */
    public Optional<BackfillState> commit(Session session, Claim claim, String xid, Work work) throws SQLException {
        Params params = ClaimSql.of(claim)
                .and("new", Values.array(work.checkpoint()))
                .and("previous", Values.array(claim.checkpoint()))
                .and("low", Values.array(claim.rangeLow()))
                .and("scanned", work.scanned())
                .and("changed", work.changed())
                .and("lease_millis", leaseMillis)
                .and("limit_millis", limitMillis)
                .and("xid", xid)
                .and("table", table);
        Form form = form(claim);
        return fused ? form.commitFused(session, params) : form.commitPlainly(session, params);
    }

    private Form form(Claim claim) {
        if (claim.bound() == null) {
            return empty;
        }
        boolean whole = claim.rangeLow() == null;
        if (claim.checkpoint() != null) {
            return whole ? later : laterOfRange;
        }
        return whole ? first : firstOfRange;
    }

    /**
     * Which rule of the window a rejected batch broke, asked in a transaction of its own.
     *
     * @param forward whether the new checkpoint was after the old one
     * @param within whether it was at or below the bound
     * @param elsewhere which other table the name means now; null where it is the one that it was at start
     */
    public record WindowCheck(
            boolean forward, boolean within, @Nullable String elsewhere) {}

    /** Compares a rejected checkpoint with the row. */
    public WindowCheck check(Session session, Claim claim, List<String> checkpoint) throws SQLException {
        Params params = Params.of("id", claim.id().value())
                .and("new", Values.array(checkpoint))
                .and("table", table);
        try (PreparedStatement statement = breach.prepare(session.connection(), params);
                ResultSet row = statement.executeQuery()) {
            return row.next()
                    ? new WindowCheck(row.getBoolean("forward"), row.getBoolean("within"), row.getString("elsewhere"))
                    : new WindowCheck(true, true, null);
        }
    }

    /** One shape of window: before the first checkpoint, with or without a lower end, after one, or an empty source. */
    private static final class Form {

        private final Sql lock;
        private final Sql fence;
        private final Sql flush;

        Form(Names names, String advance, String window, String began) {
            Map<String, String> parts =
                    Map.of("advance", advance, "window", window, "began", began, "pinned", Target.PINNED);
            lock = names.sql(LOCK);
            String update = fill(FENCE, parts);
            fence = names.sql("/* backfill:fence */ " + update);
            flush = names.sql(LOCK + ";/* backfill:fence */ WITH f AS (" + update
                    + ") SELECT min(f.state) AS state, 1 / count(*) AS changed FROM f;/* backfill:commit */ COMMIT");
        }

        Optional<BackfillState> commitPlainly(Session session, Params params) throws SQLException {
            // Two statements: under one, the lease would be judged before the wait for the lock and not again.
            try (PreparedStatement statement = lock.prepare(session.connection(), params)) {
                statement.execute();
            }
            String state;
            try (PreparedStatement statement = fence.prepare(session.connection(), params);
                    ResultSet row = statement.executeQuery()) {
                if (!row.next()) {
                    return Optional.empty();
                }
                state = row.getString("state");
            }
            session.commit();
            return Optional.of(BackfillState.ofWireName(state));
        }

        /** A deferred trigger may divide by zero at COMMIT too, but PostgreSQL then says in which function. */
        private static boolean isMiss(SQLException e) {
            return MISSED.equals(e.getSQLState())
                    && e instanceof PSQLException driver
                    && driver.getServerErrorMessage() != null
                    && driver.getServerErrorMessage().getWhere() == null;
        }

        Optional<BackfillState> commitFused(Session session, Params params) throws SQLException {
            try (PreparedStatement statement = flush.prepare(session.connection(), params)) {
                statement.execute();
                statement.getMoreResults();
                String state;
                try (ResultSet row = statement.getResultSet()) {
                    row.next();
                    state = row.getString("state");
                }
                if (!session.isIdle()) {
                    throw new SQLException("the transaction is still open after COMMIT", "08007");
                }
                return Optional.of(BackfillState.ofWireName(state));
            } catch (SQLException e) {
                if (isMiss(e)) {
                    return Optional.empty();
                }
                throw e;
            }
        }
    }
}
