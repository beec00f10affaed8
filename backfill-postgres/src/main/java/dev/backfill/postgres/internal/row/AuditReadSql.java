package dev.backfill.postgres.internal.row;

import static dev.backfill.postgres.internal.jooq.Tables.BACKFILL_AUDIT;

import dev.backfill.BackfillId;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.internal.jdbc.Session;
import java.sql.SQLException;
import java.time.Instant;
import java.util.Arrays;
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
    public AuditRecord.Page page(Session session, @Nullable BackfillId id, int limit, @Nullable Long before)
            throws SQLException {
        Condition which = id == null ? DSL.noCondition() : BACKFILL_AUDIT.ID.eq(id.value());
        if (before != null) {
            which = which.and(BACKFILL_AUDIT.AUDIT_ID.lt(before));
        }
        Condition where = which;
        List<AuditRecord> items = jooq.on(
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
        return new AuditRecord.Page(items, next);
    }

    private static AuditRecord item(
            Record12<Long, Instant, String, String, String, String, String, String, String, Long, String, String> row) {
        Authority.Kind kind = Authority.Kind.ofWireName(row.value4());
        return AuditRecord.of(
                        new Authority(kind, row.value3()), row.value7(), AuditRecord.Outcome.ofWireName(row.value11()))
                .stored(row.value1(), row.value2())
                .about(row.value5() == null ? null : BackfillId.of(row.value5()))
                .answering(row.value6())
                .moved(state(row.value8()), state(row.value9()), row.value10())
                .note(row.value12())
                .build();
    }

    /** Null for one that only a newer library knows: its record is worth reading all the same. */
    private static @Nullable BackfillState state(@Nullable String name) {
        return Arrays.stream(BackfillState.values())
                .filter(state -> state.wireName().equals(name))
                .findFirst()
                .orElse(null);
    }
}
