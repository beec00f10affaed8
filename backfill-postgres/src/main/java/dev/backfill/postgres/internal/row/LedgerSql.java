package dev.backfill.postgres.internal.row;

import static dev.backfill.postgres.internal.jooq.Tables.BACKFILL_REQUEST;

import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Diagnostic;
import dev.backfill.postgres.internal.jdbc.Session;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Optional;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/** The request ledger (IK-2, IK-3): kept for good. Immutable. */
public final class LedgerSql {

    private final Jooq jooq;

    /** Over the library's tables. */
    public LedgerSql(Jooq jooq) {
        this.jooq = jooq;
    }

    /**
     * A request as it was first made, and its answer.
     *
     * @param sameRequest whether action, backfill and actor are those of the request at hand
     * @param parameters what was asked beyond the action, as {@link Asked#parameters}
     * @param result the stored answer; null while there is none
     * @param diagnostic what a failed validation had found; null otherwise
     */
    public record Stored(
            boolean sameRequest,
            @Nullable String parameters,
            @Nullable String result,
            @Nullable Diagnostic diagnostic) {}

    /**
     * Enters a request; a copy that arrives at the same time waits here until this transaction ends.
     *
     * @return what is stored of an earlier copy; empty when this is the first
     */
    public Optional<Stored> enter(Session session, Asked request) throws SQLException {
        int inserted = jooq.on(
                session,
                "ledger",
                db -> db.insertInto(BACKFILL_REQUEST)
                        .set(BACKFILL_REQUEST.REQUEST_ID, request.requestId())
                        .set(BACKFILL_REQUEST.ACTION, request.action())
                        .set(BACKFILL_REQUEST.ID, request.id().value())
                        .set(BACKFILL_REQUEST.ACTOR, request.authority().fingerprint())
                        .set(BACKFILL_REQUEST.PARAMETERS, request.parameters())
                        .set(BACKFILL_REQUEST.NOTE, request.note())
                        .onConflictDoNothing()
                        .execute());
        return inserted == 1 ? Optional.empty() : find(session, request);
    }

    /** What is stored of a request. */
    public Optional<Stored> find(Session session, Asked request) throws SQLException {
        return jooq.on(
                session,
                "ledger",
                db -> db.select(
                                BACKFILL_REQUEST.ACTION,
                                BACKFILL_REQUEST.ID,
                                BACKFILL_REQUEST.ACTOR,
                                BACKFILL_REQUEST.PARAMETERS,
                                BACKFILL_REQUEST.RESULT,
                                BACKFILL_REQUEST.CODE,
                                BACKFILL_REQUEST.MESSAGE,
                                BACKFILL_REQUEST.SQL_STATE,
                                BACKFILL_REQUEST.ANSWERED_AT)
                        .from(BACKFILL_REQUEST)
                        .where(BACKFILL_REQUEST.REQUEST_ID.eq(request.requestId()))
                        .fetchOptional(row -> new Stored(
                                request.action().equals(row.get(BACKFILL_REQUEST.ACTION))
                                        && request.id().value().equals(row.get(BACKFILL_REQUEST.ID))
                                        && request.authority().fingerprint().equals(row.get(BACKFILL_REQUEST.ACTOR)),
                                row.get(BACKFILL_REQUEST.PARAMETERS),
                                row.get(BACKFILL_REQUEST.RESULT),
                                row.get(BACKFILL_REQUEST.CODE) == null
                                        ? null
                                        : new Diagnostic(
                                                row.get(BACKFILL_REQUEST.CODE),
                                                row.get(BACKFILL_REQUEST.MESSAGE),
                                                row.get(BACKFILL_REQUEST.SQL_STATE),
                                                row.get(BACKFILL_REQUEST.ANSWERED_AT)))));
    }

    /**
     * Stores the answer for good.
     *
     * @param prior the state before
     * @param resulting the state after
     * @param diagnostic what a failed validation found; null otherwise
     */
    public void answer(
            Session session,
            String requestId,
            String result,
            BackfillState prior,
            Transition resulting,
            @Nullable Diagnostic diagnostic)
            throws SQLException {
        jooq.on(
                session,
                "ledger",
                db -> db.update(BACKFILL_REQUEST)
                        .set(BACKFILL_REQUEST.RESULT, result)
                        .set(BACKFILL_REQUEST.PRIOR_STATE, prior.wireName())
                        .set(BACKFILL_REQUEST.RESULTING_STATE, resulting.state().wireName())
                        .set(BACKFILL_REQUEST.GENERATION, resulting.generation())
                        .set(BACKFILL_REQUEST.CODE, diagnostic == null ? null : diagnostic.code())
                        .set(BACKFILL_REQUEST.MESSAGE, diagnostic == null ? null : diagnostic.message())
                        .set(BACKFILL_REQUEST.SQL_STATE, diagnostic == null ? null : diagnostic.sqlState())
                        .set(BACKFILL_REQUEST.ANSWERED_AT, DSL.field("pg_catalog.clock_timestamp()", Instant.class))
                        .where(BACKFILL_REQUEST.REQUEST_ID.eq(requestId))
                        .execute());
    }
}
