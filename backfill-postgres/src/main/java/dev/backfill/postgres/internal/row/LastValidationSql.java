package dev.backfill.postgres.internal.row;

import static dev.backfill.postgres.internal.jooq.Tables.BACKFILL_VALIDATION;

import dev.backfill.operate.Diagnostic;
import dev.backfill.postgres.internal.jdbc.Session;
import java.sql.SQLException;
import java.time.Instant;
import org.jooq.Field;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/** The latest explicit validation of an ID, and the one under way (EV-5). Immutable. */
public final class LastValidationSql {

    private static final Field<Instant> CLOCK = DSL.field("pg_catalog.clock_timestamp()", Instant.class);

    private final Jooq jooq;

    /** Over the library's tables. */
    public LastValidationSql(Jooq jooq) {
        this.jooq = jooq;
    }

    /** Notes that one is under way; a reader believes it only while its advisory lock is held. */
    public void begin(Session session, Asked request) throws SQLException {
        jooq.on(
                session,
                "validation",
                db -> db.insertInto(BACKFILL_VALIDATION)
                        .set(BACKFILL_VALIDATION.ID, request.id().value())
                        .set(BACKFILL_VALIDATION.RUNNING_REQUEST_ID, request.requestId())
                        .set(BACKFILL_VALIDATION.RUNNING_SINCE, CLOCK)
                        .onConflict(BACKFILL_VALIDATION.ID)
                        .doUpdate()
                        .set(BACKFILL_VALIDATION.RUNNING_REQUEST_ID, request.requestId())
                        .set(BACKFILL_VALIDATION.RUNNING_SINCE, CLOCK)
                        .execute());
    }

    /** Forgets that it was under way, without a result. */
    public void forget(Session session, Asked request) throws SQLException {
        jooq.on(
                session,
                "validation",
                db -> db.update(BACKFILL_VALIDATION)
                        .setNull(BACKFILL_VALIDATION.RUNNING_REQUEST_ID)
                        .setNull(BACKFILL_VALIDATION.RUNNING_SINCE)
                        .where(BACKFILL_VALIDATION.ID.eq(request.id().value()))
                        .and(BACKFILL_VALIDATION.RUNNING_REQUEST_ID.eq(request.requestId()))
                        .execute());
    }

    /** Keeps what it found as the latest. */
    public void end(Session session, Asked request, String disposition, @Nullable Diagnostic diagnostic)
            throws SQLException {
        jooq.on(
                session,
                "validation",
                db -> db.update(BACKFILL_VALIDATION)
                        .set(BACKFILL_VALIDATION.DISPOSITION, disposition)
                        .set(BACKFILL_VALIDATION.REQUEST_ID, request.requestId())
                        .set(BACKFILL_VALIDATION.ACTOR, request.authority().name())
                        .set(BACKFILL_VALIDATION.AT, CLOCK)
                        .set(BACKFILL_VALIDATION.CODE, diagnostic == null ? null : diagnostic.code())
                        .set(BACKFILL_VALIDATION.MESSAGE, diagnostic == null ? null : diagnostic.message())
                        .set(BACKFILL_VALIDATION.SQL_STATE, diagnostic == null ? null : diagnostic.sqlState())
                        .where(BACKFILL_VALIDATION.ID.eq(request.id().value()))
                        .execute());
        // Another one may have begun since the slot became free: its note is not this one's to clear.
        forget(session, request);
    }
}
