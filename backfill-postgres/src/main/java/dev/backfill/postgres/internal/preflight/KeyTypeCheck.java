package dev.backfill.postgres.internal.preflight;

import dev.backfill.KeyType;
import dev.backfill.TableName;
import dev.backfill.internal.Identifiers;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.Map;
import java.util.Optional;
import java.util.Set;

/** Whether a key's column has the type that the key declares, and whether keys of that type can be kept as text (SR-2, SR-4). */
final class KeyTypeCheck {

    /** Types whose order and text are tested with their worst values. */
    private static final Map<String, String> METHODS = Map.ofEntries(
            Map.entry("bigint", "bigint"),
            Map.entry("integer", "integer"),
            Map.entry("smallint", "smallint"),
            Map.entry("uuid", "uuid"),
            Map.entry("numeric", "numeric"),
            Map.entry("timestamp with time zone", "timestamptz"),
            Map.entry("timestamp without time zone", "timestamp"),
            Map.entry("date", "date"),
            Map.entry("text", "text"),
            Map.entry("character varying", "text"),
            Map.entry("character", "character"),
            Map.entry("bpchar", "character"),
            Map.entry("citext", "citext"),
            Map.entry("boolean", "bool"),
            Map.entry("double precision", "doublePrecision"),
            Map.entry("bytea", "bytea"),
            Map.entry("inet", "inet"),
            Map.entry("macaddr", "macaddr"));

    private static final Set<String> TRUSTED = Set.of(
            "bigint",
            "integer",
            "smallint",
            "uuid",
            "numeric",
            "timestamptz",
            "timestamp",
            "date",
            "text",
            "bpchar",
            "citext",
            "boolean",
            "double precision",
            "bytea",
            "inet",
            "macaddr");

    // A domain is walked by its base type, which orders its index.
    private static final Sql TYPE = Sql.of("""
            /* backfill:catalog */ WITH RECURSIVE base (oid) AS (
              SELECT a.atttypid FROM pg_catalog.pg_attribute AS a
              WHERE a.attrelid = :oid::oid AND a.attname = :column AND NOT a.attisdropped
              UNION ALL SELECT d.typbasetype FROM base JOIN pg_catalog.pg_type AS d ON d.oid = base.oid AND d.typtype = 'd')
            SELECT pg_catalog.format_type(t.oid, NULL) AS name, t.typtype = 'e' AS is_enum, n.nspname || '.' || t.typname AS qualified,
              t.oid = pg_catalog.to_regtype(:type)::oid OR (:type = 'text' AND t.oid = 'varchar'::pg_catalog.regtype::oid)
                AS matches,
              EXISTS (SELECT FROM pg_catalog.pg_opclass AS o JOIN pg_catalog.pg_am AS m ON m.oid = o.opcmethod AND m.amname = 'btree'
                JOIN pg_catalog.pg_type AS i ON i.oid = o.opcintype
                WHERE o.opcdefault AND (i.oid = t.oid OR i.typname = CASE t.typtype WHEN 'e' THEN 'anyenum' WHEN 'r' THEN 'anyrange'
                    WHEN 'm' THEN 'anymultirange' WHEN 'c' THEN 'record' ELSE CASE WHEN t.typcategory = 'A' THEN 'anyarray' END END
                  OR EXISTS (SELECT FROM pg_catalog.pg_cast AS c WHERE c.castsource = t.oid AND c.casttarget = i.oid
                    AND c.castmethod = 'b' AND c.castcontext = 'i'))) AS ordered
            FROM base JOIN pg_catalog.pg_type AS t ON t.oid = base.oid AND t.typtype <> 'd'
            JOIN pg_catalog.pg_namespace AS n ON n.oid = t.typnamespace""");

    private static final String ROUND_TRIP = """
            /* backfill:catalog */ SELECT EXISTS (SELECT FROM (
              (SELECT {column} AS k FROM {table} ORDER BY {column} LIMIT 500)
              UNION ALL (SELECT {column} FROM {table} ORDER BY {column} DESC LIMIT 500)) AS s
              WHERE s.k::text::{type} IS DISTINCT FROM s.k::{type} OR s.k::text::{type}::text <> s.k::text) AS lossy""";

    private KeyTypeCheck() {}

    /** What is wrong with one column of a key; empty when nothing is. */
    static Optional<Finding> of(Session session, long oid, TableName table, KeyType.Column key) throws SQLException {
        String subject = table + "." + key.name();
        Params params = Params.of("oid", oid).and("column", key.name()).and("type", key.sqlType());
        try (PreparedStatement statement = TYPE.prepare(session.connection(), params);
                ResultSet row = statement.executeQuery()) {
            if (!row.next()) {
                return Optional.empty();
            }
            String name = row.getString("name");
            if (!row.getBoolean("ordered")) {
                return Optional.of(new Finding(
                        Finding.Code.KEY_TYPE_UNORDERED,
                        subject,
                        "Key column " + subject + " is " + name + ", which has no order for B-tree indexes."
                                + " Order by another key."));
            }
            if (!row.getBoolean("matches")) {
                return Optional.of(new Finding(
                        Finding.Code.KEY_TYPE,
                        subject,
                        "Key column " + subject + " is " + name + ", the definition says " + key.sqlType() + ". Use "
                                + method(key.name(), name, row.getBoolean("is_enum"), row.getString("qualified"))
                                + "."));
            }
        }
        return Optional.empty();
    }

    /** Whether values of the key come back from their text; reads the ends of the table by its index, so that must be there. */
    static Optional<Finding> roundTrip(Session session, TableName table, KeyType.Column key) throws SQLException {
        String subject = table + "." + key.name();
        return TRUSTED.contains(key.sqlType()) || !isLossy(session, table, key)
                ? Optional.empty()
                : Optional.of(new Finding(
                        Finding.Code.KEY_ROUND_TRIP,
                        subject,
                        "A value of key column " + subject
                                + " is not the same when it is read back from its text, so no"
                                + " checkpoint can be kept in type " + key.sqlType() + ". Order by another key."));
    }

    /** The method of {@code Keys} that fits a column. */
    private static String method(String column, String type, boolean isEnum, String qualified) {
        if (isEnum) {
            return "Keys.enumerated(\"" + column + "\", \"" + qualified + "\")";
        }
        String method = METHODS.get(type);
        return method == null
                ? "Keys.of(\"" + column + "\", \"" + type.replace("\"", "\\\"") + "\")"
                : "Keys." + method + "(\"" + column + "\")";
    }

    private static boolean isLossy(Session session, TableName table, KeyType.Column key) throws SQLException {
        String collate = key.collation() == null ? "" : " COLLATE " + Identifiers.quote(key.collation());
        Sql sql = Sql.of(
                ROUND_TRIP,
                Map.of(
                        "column",
                        Identifiers.quote(key.name()) + collate,
                        "table",
                        table.quoted(),
                        "type",
                        key.sqlType()));
        try (PreparedStatement statement = sql.prepare(session.connection(), Params.none());
                ResultSet row = statement.executeQuery()) {
            return row.next() && row.getBoolean("lossy");
        }
    }
}
