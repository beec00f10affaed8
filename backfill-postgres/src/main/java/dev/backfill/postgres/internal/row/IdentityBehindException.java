package dev.backfill.postgres.internal.row;

import dev.backfill.postgres.internal.jdbc.MendableException;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.migrate.Names;
import java.sql.SQLException;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * An own identity column gave a number that is taken: its sequence stands behind its table, because logical replication copies rows and
 * no sequences. Mended by advancing the sequence, which needs UPDATE on it.
 */
final class IdentityBehindException extends MendableException {

    private static final long serialVersionUID = 1L;
    private static final Logger LOG = LoggerFactory.getLogger("dev.backfill");

    private final String table;
    private final String column;

    private IdentityBehindException(String table, String column, SQLException cause) {
        super("the sequence of " + table + "." + column + " stands behind its table", cause);
        this.table = table;
        this.column = column;
    }

    /** The failure of an insert in which nothing but an own identity column can be a duplicate; any other stays what it is. */
    static SQLException of(SQLException e, Names names, String table, String column) {
        return SqlFailure.isDuplicate(e) ? new IdentityBehindException(names.qualified(table), column, e) : e;
    }

    /** Never backwards. The gap is for those who take numbers between the look at the sequence and its advance. */
    @Override
    protected void mend(Session session) throws SQLException {
        Sql advance = Sql.of("""
                /* backfill:sequence */ SELECT pg_catalog.setval(s.name, m.most + 100)
                FROM (SELECT pg_catalog.pg_get_serial_sequence(:table, :column)::regclass AS name) AS s,
                  (SELECT max({column})::bigint AS most FROM {table}) AS m
                WHERE m.most >= coalesce(pg_catalog.pg_sequence_last_value(s.name), 0)""", Map.of("table", table, "column", column));
        try (var statement =
                advance.prepare(session.connection(), Params.of("table", table).and("column", column))) {
            statement.execute();
        }
        LOG.atWarn()
                .addKeyValue("table", table)
                .addKeyValue("column", column)
                .log(
                        "The sequence of an own identity column stood behind its table, as after a logical switchover; it was advanced");
    }
}
