package dev.backfill.postgres.internal.row;

import static dev.backfill.postgres.internal.jooq.Tables.BACKFILL_AUDIT;

import dev.backfill.BackfillId;
import dev.backfill.operate.AuditItem;
import dev.backfill.operate.AuditPage;
import dev.backfill.postgres.internal.jdbc.Session;
import java.sql.SQLException;
import java.time.Instant;
import java.util.List;
import org.jooq.Condition;
import org.jooq.Record12;
import org.jooq.impl.DSL;
import org.jspecify.annotations.Nullable;

/** Reads audit records by keyset, newest first. Immutable. */
public final class AuditReadSql {

    private final Jooq jooq;

    /** Over the library's tables. */
    public AuditReadSql(Jooq jooq) {
        this.jooq = jooq;
    }

    /** A page; see {@link dev.backfill.operate.BackfillOperations#audit}. */
    public AuditPage page(Session session, @Nullable BackfillId id, int limit, @Nullable Long before)
            throws SQLException {
        Condition which = id == null ? DSL.noCondition() : BACKFILL_AUDIT.ID.eq(id.value());
        if (before != null) {
            which = which.and(BACKFILL_AUDIT.AUDIT_ID.lt(before));
        }
        Condition where = which;
        List<AuditItem> items = jooq.on(
                session,
                "audit-read",
                db -> db.select(
                                BACKFILL_AUDIT.AUDIT_ID,
                                BACKFILL_AUDIT.AT,
                                BACKFILL_AUDIT.ACTOR,
                                BACKFILL_AUDIT.AUTHORITY,
                                BACKFILL_AUDIT.ID,
                                BACKFILL_AUDIT.REQUEST_ID,
                                BACKFILL_AUDIT.ACTION,
                                BACKFILL_AUDIT.PRIOR_STATE,
                                BACKFILL_AUDIT.RESULTING_STATE,
                                BACKFILL_AUDIT.GENERATION,
                                BACKFILL_AUDIT.OUTCOME,
                                BACKFILL_AUDIT.NOTE)
                        .from(BACKFILL_AUDIT)
                        .where(where)
                        .orderBy(BACKFILL_AUDIT.AUDIT_ID.desc())
                        .limit(limit)
                        .fetch(AuditReadSql::item));
        Long next = items.size() < limit ? null : items.get(items.size() - 1).auditId();
        return new AuditPage(items, next);
    }

    private static AuditItem item(
            Record12<Long, Instant, String, String, String, String, String, String, String, Long, String, String> row) {
        return new AuditItem(
                row.value1(),
                row.value2(),
                row.value3(),
                row.value4(),
                row.value5(),
                row.value6(),
                row.value7(),
                row.value8(),
                row.value9(),
                row.value10(),
                row.value11(),
                row.value12());
    }
}
