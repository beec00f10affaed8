package dev.backfill.postgres.internal.row;

import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.Values;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Both ends of a source in PostgreSQL's order, each one descent of the index. Null when there is no row. Immutable. */
public final class EndsSql {

    private final Sql least;
    private final Sql greatest;

    /** For one key. */
    public EndsSql(KeySql key) {
        least = end(key, "");
        greatest = end(key, " DESC");
    }

    private static Sql end(KeySql key, String direction) {
        return Sql.of(
                "/* backfill:bound */ SELECT " + key.rowTexts(key.alias()) + " AS key FROM {source} ORDER BY "
                        + key.order(key.alias(), direction) + " LIMIT 1",
                Map.of("source", key.table()));
    }

    /** The first key. */
    public @Nullable List<String> least(Session session) throws SQLException {
        return one(session, least);
    }

    /** The last key. */
    public @Nullable List<String> greatest(Session session) throws SQLException {
        return one(session, greatest);
    }

    private static @Nullable List<String> one(Session session, Sql sql) throws SQLException {
        try (PreparedStatement statement = sql.prepare(session.connection(), Params.none());
                ResultSet row = statement.executeQuery()) {
            return row.next() ? Values.texts(row, "key") : null;
        }
    }
}
