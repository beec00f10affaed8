package dev.backfill.postgres.internal.row;

import dev.backfill.BackfillId;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.migrate.Names;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/** What a row has counted over all its batches, for a batch whose own answer was lost. Immutable. */
public final class TotalsSql {

    private final Sql read;

    /**
     * What a row has counted.
     *
     * @param batches those that were committed
     * @param scanned keys in windows
     * @param changed rows changed
     */
    public record Totals(long batches, long scanned, long changed) {}

    public TotalsSql(Names names) {
        read = names.sql(
                "/* backfill:totals */ SELECT b.batches, b.rows_scanned, b.rows_changed FROM {backfill} AS b WHERE b.id = :id");
    }

    public Totals read(Session session, BackfillId id) throws SQLException {
        try (PreparedStatement statement = read.prepare(session.connection(), Params.of("id", id.value()));
                ResultSet row = statement.executeQuery()) {
            return row.next() ? new Totals(row.getLong(1), row.getLong(2), row.getLong(3)) : new Totals(0, 0, 0);
        }
    }
}
