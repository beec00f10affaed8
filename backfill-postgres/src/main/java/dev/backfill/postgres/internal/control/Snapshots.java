package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillId;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.Evidence;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.row.EvidenceSql;
import dev.backfill.postgres.internal.row.SnapshotSql;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;

/**
 * Rows as operators see them. Immutable, thread-safe.
 *
 * @param sql reads them
 * @param mapper makes snapshots of them
 * @param registered what their definitions left behind
 */
public record Snapshots(SnapshotSql sql, SnapshotMapper mapper, EvidenceSql registered) {

    List<BackfillSnapshot> all(Session session) throws SQLException {
        return sql.list(session, mapper::map);
    }

    Optional<BackfillSnapshot> one(Session session, BackfillId id) throws SQLException {
        return sql.detail(session, id, mapper::map);
    }

    Optional<Evidence> evidence(Session session, BackfillId id) throws SQLException {
        Optional<BackfillSnapshot> row = one(session, id);
        return row.isEmpty()
                ? Optional.empty()
                : Optional.of(new ReadEvidence(row.get(), registered.read(session, id)));
    }
}
