package dev.backfill.postgres.internal.row;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.FamilySql.Range;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The transitions that operators ask for: each one UPDATE whose WHERE names the states it may leave (LC-2), and each raises the
 * generation, so that whatever was under way is fenced (CL-1). Immutable.
 */
public final class ActionSql {

    private static final String UNCLAIMED =
            "claim_token = NULL, claim_owner = NULL, claimed_at = NULL, claim_expires_at = NULL,"
                    + " wait_reason = NULL, wait_detail = NULL, wait_since = NULL";

    // Through validating when no admitted work remains; the barrier's clock begins anew, because nobody waited
    // meanwhile.
    private static final String BACK_TO_WORK = """
            state = CASE WHEN bound_empty OR checkpoint = bound THEN 'validating' ELSE 'running' END,
              validating_at = CASE WHEN bound_empty OR checkpoint = bound
                THEN coalesce(validating_at, pg_catalog.clock_timestamp()) ELSE validating_at END,
              generation = generation + 1, next_attempt_at = NULL, barrier_since = NULL""";

    private final Sql start;
    private final Map<BackfillAction, Sql> others;

    /** Compiles the statements. */
    public ActionSql(Names names) {
        start = names.sql("""
                /* backfill:start */ UPDATE {backfill} SET state = 'running', generation = generation + 1, key_codec = :key_codec,
                  contract = CASE WHEN :range_parts::integer IS NULL THEN 1 ELSE 2 END,
                  range_parts = :range_parts::integer, range_low = :range_low::text[],
                  target_schema = :target_schema, target_table = :target_table, target_oid = :target_oid,
                  target_database = :target_database, target_system = :target_system,
                  bound = :bound::text[], bound_empty = :bound::text[] IS NULL, rows_estimated = :rows_estimated::bigint,
                  bound_captured_at = coalesce(:captured_at::timestamptz, pg_catalog.clock_timestamp()), started_at = pg_catalog.clock_timestamp()
                WHERE id = :id AND state IN (""" + sources(BackfillAction.START) + ") RETURNING state, generation");
        others = Map.of(
                // What a claim had charged is given back: a pause costs no attempt (RB-5).
                BackfillAction.PAUSE,
                names.sql("/* backfill:pause */ UPDATE {backfill} SET state = 'paused', generation = generation + 1, "
                        + "attempts = CASE WHEN claim_token IS NULL THEN attempts ELSE greatest(attempts - 1, 0) END, "
                        + UNCLAIMED + where(BackfillAction.PAUSE)),
                BackfillAction.RESUME,
                names.sql("/* backfill:resume */ UPDATE {backfill} SET " + BACK_TO_WORK + where(BackfillAction.RESUME)),
                BackfillAction.RETRY,
                names.sql("/* backfill:retry */ UPDATE {backfill} SET " + BACK_TO_WORK
                        + ", attempts = 0, contended = 0, failure_code = NULL, failure_message = NULL,"
                        + " failure_sql_state = NULL, failure_at = NULL" + where(BackfillAction.RETRY)));
    }

    private static String where(BackfillAction action) {
        return " WHERE id = :id AND state IN (" + sources(action) + ") RETURNING state, generation";
    }

    private static String sources(BackfillAction action) {
        return action.appliesFrom().stream()
                .map(s -> "'" + s.wireName() + "'")
                .sorted()
                .collect(Collectors.joining(", "));
    }

    /** Enters {@code running} with a bound captured in the session's transaction (SR-1); empty if the state forbids it. */
    public Optional<Transition> start(
            Session session, BackfillDefinition<?> definition, Target target, Range range, @Nullable Long estimatedRows)
            throws SQLException {
        Params params = target.params()
                .and("id", definition.id().value())
                .and("key_codec", definition.key().codec())
                .and("bound", Values.array(range.bound()))
                .and("range_parts", range.parts())
                .and("range_low", Values.array(range.low()))
                .and("captured_at", range.capturedAt())
                .and("rows_estimated", estimatedRows == null ? null : (long) (estimatedRows * range.share()));
        return one(session, start, params);
    }

    /** Up to the greatest key in PostgreSQL's order, which is null when there is no row: an explicit "empty", never a sentinel (LC-5). */
    public static Range whole(Session session, BackfillDefinition<?> definition) throws SQLException {
        return Range.whole(new EndsSql(new KeySql(definition.table(), definition.key())).greatest(session));
    }

    /** Pauses, resumes or retries; empty if the state forbids it. */
    public Optional<Transition> move(Session session, BackfillAction action, BackfillId id) throws SQLException {
        Sql sql = others.get(action);
        if (sql == null) {
            throw new IllegalArgumentException("no plain transition: " + action);
        }
        return one(session, sql, Params.of("id", id.value()));
    }

    private static Optional<Transition> one(Session session, Sql sql, Params params) throws SQLException {
        try (PreparedStatement statement = sql.prepare(session.connection(), params);
                ResultSet row = statement.executeQuery()) {
            return row.next()
                    ? Optional.of(
                            new Transition(BackfillState.ofWireName(row.getString("state")), row.getLong("generation")))
                    : Optional.empty();
        }
    }
}
