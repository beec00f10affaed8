package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillId;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.Evidence;
import dev.backfill.operate.Overview.Unreadable;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.row.EvidenceSql;
import dev.backfill.postgres.internal.row.SnapshotSql;
import java.sql.SQLException;
import java.util.ArrayList;
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

    /**
     * Every row.
     *
     * @param readable those that this library can read
     * @param unreadable those that it can't, each with the reason
     */
    record All(List<BackfillSnapshot> readable, List<Unreadable> unreadable) {}

    All all(Session session) throws SQLException {
        List<Unreadable> unreadable = new ArrayList<>();
        List<Optional<BackfillSnapshot>> rows = sql.list(session, row -> {
            try {
                return Optional.of(mapper.map(row));
            } catch (BackfillUnavailableException e) {
                unreadable.add(new Unreadable(BackfillId.of(row.getString("id")), String.valueOf(e.getMessage())));
                return Optional.empty();
            }
        });
        return new All(rows.stream().flatMap(Optional::stream).toList(), unreadable);
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
