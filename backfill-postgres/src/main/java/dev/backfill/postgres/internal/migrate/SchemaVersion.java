package dev.backfill.postgres.internal.migrate;

import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.List;
import java.util.SortedSet;
import java.util.TreeSet;

/**
 * Which migrations a database has, and whether this library can run on it (SC-5).
 *
 * @param placed whether there is the schema that the tables belong in
 * @param applied the versions that were applied; none when the tables are not there
 * @param safeFrom the lowest library schema version that may run on it, by its own word
 */
public record SchemaVersion(boolean placed, SortedSet<Integer> applied, int safeFrom) {

    private static final Sql EXISTS = Sql.of("""
            /* backfill:schema */ SELECT EXISTS (SELECT 1 FROM pg_catalog.pg_namespace WHERE nspname = :schema) AS placed,
              pg_catalog.to_regclass(:table) IS NOT NULL AS found""");

    /** Reads it. */
    public static SchemaVersion read(Session session, Names names) throws SQLException {
        String table = names.qualified("backfill_schema_version");
        SortedSet<Integer> applied = new TreeSet<>();
        int safeFrom = 0;
        Params where = Params.of("table", table).and("schema", names.schema());
        try (PreparedStatement statement = EXISTS.prepare(session.connection(), where);
                ResultSet row = statement.executeQuery()) {
            row.next();
            if (!row.getBoolean("found")) {
                return new SchemaVersion(row.getBoolean("placed"), applied, safeFrom);
            }
        }
        Sql versions = names.sql("/* backfill:schema */ SELECT version, safe_from FROM {schema_version}");
        try (PreparedStatement statement = versions.prepare(session.connection(), Params.none());
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                applied.add(row.getInt("version"));
                safeFrom = Math.max(safeFrom, row.getInt("safe_from"));
            }
        }
        return new SchemaVersion(true, applied, safeFrom);
    }

    /**
     * Fails closed unless there is a schema for the tables. The library creates tables and never a schema, so that no migration could
     * help.
     *
     * @throws BackfillUnavailableException with what to do
     */
    SchemaVersion requirePlace(Names names) {
        if (!placed) {
            throw new BackfillUnavailableException(
                    Reason.SCHEMA_MISSING,
                    "Schema " + names.schema()
                            + " does not exist, so the tables of Backfill have no place. Create it, and"
                            + " grant USAGE and CREATE on it to the role that migrates; the library creates tables only.",
                    null);
        }
        return this;
    }

    /** The steps that this database lacks; one in the middle may be missing where another tool applies them. */
    List<Migration> missing(List<Migration> steps) {
        return steps.stream().filter(step -> !applied.contains(step.version())).toList();
    }

    /**
     * Fails closed unless a library with these steps can run.
     *
     * @throws BackfillUnavailableException with both versions and what to do
     */
    public void require(Names names, List<Migration> steps) {
        requirePlace(names);
        if (applied.isEmpty()) {
            throw new BackfillUnavailableException(
                    Reason.SCHEMA_MISSING,
                    "The tables of Backfill are not in schema " + names.schema()
                            + ". Start with SchemaMode.MIGRATE, or apply the published migrations.",
                    null);
        }
        int current = Migration.current(steps);
        List<Migration> missing = missing(steps);
        if (!missing.isEmpty()) {
            throw new BackfillUnavailableException(
                    Reason.SCHEMA_INCOMPATIBLE,
                    "The tables of Backfill in schema " + names.schema()
                            + " are at version " + applied.last() + ", this library needs version " + current + ": "
                            + missing.get(0).file()
                            + " was not applied. Start with SchemaMode.MIGRATE, or apply the missing migrations.",
                    null);
        }
        if (safeFrom > current) {
            throw new BackfillUnavailableException(
                    Reason.SCHEMA_INCOMPATIBLE,
                    "The tables of Backfill in schema " + names.schema()
                            + " are at version " + applied.last() + " and need a library of schema version " + safeFrom
                            + " or newer; this one is of "
                            + current + ". Deploy the newer library here too.",
                    null);
        }
    }
}
