package dev.backfill.postgres.internal.row;

import dev.backfill.TableName;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Optional;

/**
 * Which table a backfill works on (SR-10). A name is resolved by each session anew, so the row keeps what it meant at start: schema and
 * name for people and for another server, the number in the catalog for this one.
 *
 * @param schema the schema
 * @param table the table
 * @param oid its number in the catalog
 * @param database the database's number
 * @param system the server's system identifier
 */
public record Target(String schema, String table, long oid, long database, long system) {

    /** The number of the table that the session's search path gives, as SQL over parameter {@code table}. */
    private static final String FOUND = "pg_catalog.to_regclass(:table)::oid::bigint";

    /** Whether that is the table of row {@code b}, as SQL; a row that was never claimed may have none yet. */
    public static final String PINNED = "coalesce(b.target_oid = " + FOUND + ", b.target_oid IS NULL)";

    /** What is said where it is not, as SQL; null where it is. */
    public static final String ELSEWHERE = "CASE WHEN b.target_oid IS NOT NULL AND NOT " + PINNED
            + " THEN pg_catalog.concat(b.target_schema, '.', b.target_table, ' (oid ', b.target_oid, '), and the name ', :table,"
            + " ' now means ', coalesce((SELECT n.nspname || '.' || c.relname || ' (oid ' || c.oid || ')'"
            + " FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace"
            + " WHERE c.oid = pg_catalog.to_regclass(:table)::oid), 'no table')) END";

    private static final Sql RESOLVE = Sql.of("""
            /* backfill:target */ SELECT n.nspname, c.relname, c.oid::bigint AS oid,
              (SELECT d.oid::bigint FROM pg_catalog.pg_database AS d WHERE d.datname = pg_catalog.current_database()) AS database,
              (SELECT s.system_identifier FROM pg_catalog.pg_control_system() AS s) AS system
            FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace
            WHERE c.oid = pg_catalog.to_regclass(:table)::oid""");

    /** What a name means in a session; empty when there is nothing of that name. */
    public static Optional<Target> resolve(Session session, TableName name) throws SQLException {
        try (PreparedStatement statement = RESOLVE.prepare(session.connection(), Params.of("table", name.quoted()));
                ResultSet row = statement.executeQuery()) {
            return row.next()
                    ? Optional.of(new Target(
                            row.getString("nspname"),
                            row.getString("relname"),
                            row.getLong("oid"),
                            row.getLong("database"),
                            row.getLong("system")))
                    : Optional.empty();
        }
    }

    /** Whether this is the table that another one was; numbers of another server or database say nothing, so names must do. */
    public boolean isThat(Target other) {
        return (system == other.system && database == other.database)
                ? oid == other.oid
                : schema.equals(other.schema) && table.equals(other.table);
    }

    /** What operators are told when the name means another table than it did. */
    public static String changed(String elsewhere) {
        return "The backfill was started on table " + elsewhere
                + ". Give the engine's connections one search path, or qualify the name; a table that was replaced by another one"
                + " needs a backfill under a new ID.";
    }

    /** The same of two tables. */
    public static String changed(Target pinned, Target now) {
        return changed(pinned + ", and its name now means " + now);
    }

    /** The values for a statement that keeps it. */
    public Params params() {
        return Params.of("target_schema", schema)
                .and("target_table", table)
                .and("target_oid", oid)
                .and("target_database", database)
                .and("target_system", system);
    }

    static Optional<Target> of(ResultSet row) throws SQLException {
        long oid = row.getLong("target_oid");
        return row.wasNull()
                ? Optional.empty()
                : Optional.of(new Target(
                        row.getString("target_schema"),
                        row.getString("target_table"),
                        oid,
                        row.getLong("target_database"),
                        row.getLong("target_system")));
    }

    @Override
    public String toString() {
        return schema + "." + table + " (oid " + oid + ")";
    }
}
