package dev.backfill.postgres.internal.preflight;

import com.fasterxml.jackson.databind.JsonNode;
import dev.backfill.postgres.internal.batch.PageSql;
import dev.backfill.postgres.internal.batch.PreparedDefinition;
import dev.backfill.postgres.internal.batch.WindowSize;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.row.Claim;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.Set;

/**
 * Whether an index holds the rows that need a repair and no others, in the order of the key, so that a walk need not read the rest
 * (SR-7). PostgreSQL's plan says so; nothing is concluded from the index's definition. Stateless.
 */
public final class IndexWalk {

    private static final Sql PARTIAL = Sql.of("""
            /* backfill:catalog */ SELECT c.relname FROM pg_catalog.pg_index AS i JOIN pg_catalog.pg_class AS c ON c.oid = i.indexrelid
            WHERE i.indrelid = pg_catalog.to_regclass(:table) AND i.indpred IS NOT NULL AND i.indisvalid""");

    private IndexWalk() {}

    /** Whether one serves the windows of a claim. */
    public static boolean serves(Session session, PreparedDefinition prepared, Claim claim) throws SQLException {
        PageSql.Forms inNeed = prepared.repair().inNeed();
        if (inNeed == null || claim.bound() == null) {
            return false;
        }
        Set<String> partial = partial(session, prepared.key().table());
        if (partial.isEmpty()) {
            return false;
        }
        WindowSize size = WindowSize.of(prepared.definition().batchSize());
        JsonNode limit = StatementProbe.plan(session, inNeed.of(claim), PageSql.params(claim, size))
                .plan();
        JsonNode scan = limit.path("Plans").path(0);
        // Anything between the two would be a sort of all such rows; a filter would pass over rows of the index unread.
        return limit.path("Node Type").asText().equals("Limit")
                && Set.of("Index Scan", "Index Only Scan")
                        .contains(scan.path("Node Type").asText())
                && partial.contains(scan.path("Index Name").asText())
                && scan.path("Filter").isMissingNode();
    }

    private static Set<String> partial(Session session, String table) throws SQLException {
        Set<String> names = new HashSet<>();
        try (PreparedStatement statement = PARTIAL.prepare(session.connection(), Params.of("table", table));
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                names.add(row.getString("relname"));
            }
        }
        return names;
    }
}
