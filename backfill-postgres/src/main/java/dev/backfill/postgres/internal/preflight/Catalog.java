package dev.backfill.postgres.internal.preflight;

import dev.backfill.TableName;
import dev.backfill.postgres.internal.batch.CountSql;
import dev.backfill.postgres.internal.batch.TableFacts;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/** Reads PostgreSQL's catalog. Stateless. */
public final class Catalog {

    private static final Sql TABLE = Sql.of("""
            /* backfill:catalog */ SELECT c.oid::bigint AS oid, pg_catalog.has_table_privilege(c.oid, 'SELECT') AS may_read,
              c.relkind = 'r' AND EXISTS (SELECT FROM pg_catalog.pg_inherits AS i WHERE i.inhparent = c.oid) AS has_children,
              EXISTS (SELECT FROM pg_catalog.pg_rewrite AS r WHERE r.ev_class = c.oid AND r.ev_type = '2' AND r.is_instead
                AND r.ev_enabled <> 'D') AS update_replaced,
              EXISTS (SELECT FROM pg_catalog.pg_trigger AS g WHERE NOT g.tgisinternal AND (g.tgrelid = c.oid OR g.tgrelid IN
                (SELECT t.relid FROM pg_catalog.pg_partition_tree(c.oid) AS t))) AS has_triggers,
              {plain} AS plain,
              (SELECT CASE WHEN bool_or(p.reltuples < 0) THEN NULL ELSE sum(p.reltuples)::bigint END
               FROM pg_catalog.pg_class AS p WHERE p.relkind = 'r' AND (p.oid = c.oid OR p.oid IN
                 (SELECT t.relid FROM pg_catalog.pg_partition_tree(c.oid) AS t WHERE t.isleaf))) AS estimated_rows
            FROM pg_catalog.pg_class AS c WHERE c.oid = pg_catalog.to_regclass(:table)::oid AND c.relkind IN ('r', 'p')""", Map.of("plain", CountSql.PLAIN));

    private static final Sql COLUMNS = Sql.of("""
            /* backfill:catalog */ SELECT a.attname, pg_catalog.format_type(a.atttypid, -1) AS cast_type,
              pg_catalog.format_type(a.atttypid, a.atttypmod) AS full_type, t.typcategory = 'S' AS is_string,
              a.attnotnull AND NOT EXISTS (SELECT FROM pg_catalog.pg_constraint AS n WHERE n.conrelid = a.attrelid
                AND n.contype = 'n' AND a.attnum = ANY (n.conkey) AND NOT n.convalidated) AS attnotnull,
              a.attgenerated <> '' OR a.attidentity = 'a' AS generated,
              pg_catalog.has_column_privilege(a.attrelid, a.attnum, 'UPDATE') AS may_write
            FROM pg_catalog.pg_attribute AS a JOIN pg_catalog.pg_type AS t ON t.oid = a.atttypid
            WHERE a.attrelid = :oid::oid AND a.attnum > 0 AND NOT a.attisdropped""");

    private static final Sql INDEXES = Sql.of("""
            /* backfill:catalog */ SELECT ic.relname, i.indisunique AND i.indimmediate AS is_unique, k.columns, k.collations,
              k.directions = 1 AS one_direction
            FROM pg_catalog.pg_index AS i
            JOIN pg_catalog.pg_class AS ic ON ic.oid = i.indexrelid
            JOIN pg_catalog.pg_am AS am ON am.oid = ic.relam AND am.amname = 'btree'
            CROSS JOIN LATERAL (
              SELECT array_agg(a.attname::text ORDER BY n.i) AS columns,
                array_agg(coalesce(l.collname::text, '') ORDER BY n.i) AS collations,
                count(DISTINCT i.indoption[n.i] & 1) AS directions
              FROM pg_catalog.generate_series(0, i.indnkeyatts - 1) AS n(i)
              JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND a.attnum = i.indkey[n.i]
              LEFT JOIN pg_catalog.pg_collation AS l ON l.oid = i.indcollation[n.i]) AS k
            WHERE i.indrelid = :oid::oid AND i.indisvalid AND i.indisready AND i.indpred IS NULL AND i.indexprs IS NULL""");

    private static final Sql COLLATION = Sql.of("""
            /* backfill:catalog */ SELECT collisdeterministic FROM pg_catalog.pg_collation
            WHERE collname = :name AND collencoding IN (-1, (SELECT encoding FROM pg_catalog.pg_database
              WHERE datname = pg_catalog.current_database())) AND pg_catalog.pg_collation_is_visible(oid)""");

    // What PostgreSQL itself warns about: recorded, and another one than the operating system's now.
    private static final String VERSION = """
            /* backfill:catalog */ SELECT coalesce({changed}, false) AS changed FROM pg_catalog.pg_collation AS l
            WHERE l.collname = :name AND l.collencoding IN (-1, (SELECT encoding FROM pg_catalog.pg_database
              WHERE datname = pg_catalog.current_database())) AND pg_catalog.pg_collation_is_visible(l.oid)""";

    private static final String OWN = "l.collversion <> pg_catalog.pg_collation_actual_version(l.oid)";

    private static final Sql VERSION_BEFORE_15 = Sql.of(VERSION, Map.of("changed", OWN));

    private static final Sql VERSION_CHANGED = Sql.of(
            VERSION,
            Map.of(
                    "changed",
                    "CASE WHEN l.collprovider = 'd' THEN ("
                            + "SELECT d.datcollversion <> pg_catalog.pg_database_collation_actual_version(d.oid) FROM pg_catalog.pg_database AS d"
                            + " WHERE d.datname = pg_catalog.current_database()) ELSE " + OWN + " END"));

    private Catalog() {}

    /** Whether a collation's order may be another one than when its indexes were built; the default's is known from 15 on. */
    public static boolean isVersionChanged(Session session, String collation) throws SQLException {
        boolean before15 = session.connection().getMetaData().getDatabaseMajorVersion() < 15;
        Sql sql = before15 ? VERSION_BEFORE_15 : VERSION_CHANGED;
        try (PreparedStatement statement = sql.prepare(session.connection(), Params.of("name", collation));
                ResultSet row = statement.executeQuery()) {
            return row.next() && row.getBoolean("changed");
        }
    }

    /** The facts of a table; empty when there is no such table, or something else of that name. */
    public static Optional<TableFacts> table(Session session, TableName name) throws SQLException {
        try (PreparedStatement statement = TABLE.prepare(session.connection(), Params.of("table", name.quoted()));
                ResultSet row = statement.executeQuery()) {
            if (!row.next()) {
                return Optional.empty();
            }
            long oid = row.getLong("oid");
            long estimate = row.getLong("estimated_rows");
            Long estimatedRows = row.wasNull() ? null : estimate;
            return Optional.of(new TableFacts(
                    oid,
                    columns(session, oid),
                    indexes(session, oid),
                    estimatedRows,
                    row.getBoolean("may_read"),
                    row.getBoolean("update_replaced"),
                    row.getBoolean("has_triggers"),
                    row.getBoolean("plain"),
                    row.getBoolean("has_children")));
        }
    }

    private static Map<String, TableFacts.Column> columns(Session session, long oid) throws SQLException {
        Map<String, TableFacts.Column> columns = new HashMap<>();
        try (PreparedStatement statement = COLUMNS.prepare(session.connection(), Params.of("oid", oid));
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                columns.put(
                        row.getString("attname"),
                        new TableFacts.Column(
                                row.getString("cast_type"),
                                row.getString("full_type"),
                                row.getBoolean("is_string"),
                                row.getBoolean("attnotnull"),
                                row.getBoolean("generated"),
                                row.getBoolean("may_write")));
            }
        }
        return columns;
    }

    private static List<TableFacts.Index> indexes(Session session, long oid) throws SQLException {
        List<TableFacts.Index> indexes = new ArrayList<>();
        try (PreparedStatement statement = INDEXES.prepare(session.connection(), Params.of("oid", oid));
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                indexes.add(new TableFacts.Index(
                        row.getString("relname"),
                        List.of((String[]) row.getArray("columns").getArray()),
                        List.of((String[]) row.getArray("collations").getArray()),
                        row.getBoolean("is_unique"),
                        row.getBoolean("one_direction")));
            }
        }
        return indexes;
    }

    /** Whether a collation is deterministic; empty when there is none of that name. */
    static Optional<Boolean> isDeterministic(Session session, String collation) throws SQLException {
        try (PreparedStatement statement = COLLATION.prepare(session.connection(), Params.of("name", collation));
                ResultSet row = statement.executeQuery()) {
            return row.next() ? Optional.of(row.getBoolean(1)) : Optional.empty();
        }
    }
}
