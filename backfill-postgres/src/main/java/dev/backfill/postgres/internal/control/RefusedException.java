package dev.backfill.postgres.internal.control;

import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.postgres.internal.row.RowSql.Row;
import dev.backfill.postgres.internal.row.Transition;
import java.sql.SQLException;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Refused for a reason that may pass, so the request is not stored; rolls the transaction back. */
final class RefusedException extends SQLException {

    private static final long serialVersionUID = 1L;

    final @Nullable ConflictCode code;
    final transient @Nullable Transition at;
    final transient List<Finding> findings;

    RefusedException(@Nullable ConflictCode code, @Nullable Row row, List<Finding> findings) {
        // A state of its own, so that the connection is not taken for a broken one.
        super("refused", "02000");
        this.code = code;
        this.at = row == null ? null : row.position();
        this.findings = findings;
    }

    static RefusedException unknownId() {
        return new RefusedException(null, null, List.of());
    }

    static RefusedException because(ConflictCode code, Row row) {
        return new RefusedException(code, row, List.of());
    }

    @Nullable
    BackfillState state() {
        return at == null ? null : at.state();
    }

    AuditRecord.Outcome outcome() {
        return code == null ? AuditRecord.Outcome.UNKNOWN_ID : AuditRecord.Outcome.of(code);
    }
}
