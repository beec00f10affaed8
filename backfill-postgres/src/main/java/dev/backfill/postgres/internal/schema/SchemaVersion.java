package dev.backfill.postgres.internal.schema;

import dev.backfill.BackfillUnavailableException;
import dev.backfill.BackfillUnavailableException.Reason;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;

/**
 * Which migrations a database has, and whether this library can run on it (SC-5).
 *
 * @param applied the highest applied version; 0 when the tables are not there
 * @param safeFrom the lowest library schema version that may run on it, by its own word
 */
public record SchemaVersion(int applied, int safeFrom) {

    private static final Sql EXISTS =
            Sql.of("/* backfill:schema */ SELECT pg_catalog.to_regclass(:table) IS NOT NULL AS found");

    /** Reads it. */
    public static SchemaVersion read(Session session, Names names) throws SQLException {
        String table = names.qualified("backfill_schema_version");
        try (PreparedStatement statement = EXISTS.prepare(session.connection(), Params.of("table", table));
                ResultSet row = statement.executeQuery()) {
            row.next();
            if (!row.getBoolean("found")) {
                return new SchemaVersion(0, 0);
            }
        }
        Sql versions = names.sql("/* backfill:schema */ SELECT coalesce(max(version), 0) AS applied,"
                + " coalesce(max(safe_from), 0) AS safe_from FROM {schema_version}");
        try (PreparedStatement statement = versions.prepare(session.connection(), Params.none());
                ResultSet row = statement.executeQuery()) {
            row.next();
            return new SchemaVersion(row.getInt("applied"), row.getInt("safe_from"));
        }
    }

    /**
     * Fails closed unless this library can run.
     *
     * @throws BackfillUnavailableException with both versions and what to do
     */
    public void require(Names names) {
        if (applied == 0) {
            throw new BackfillUnavailableException(
                    Reason.SCHEMA_MISSING,
                    "Schema " + names.schema() + " does not hold the tables of"
                            + " Backfill. Start with SchemaMode.MIGRATE, or apply the published migrations.",
                    null);
        }
        if (applied < Migration.CURRENT) {
            throw new BackfillUnavailableException(
                    Reason.SCHEMA_INCOMPATIBLE,
                    "The tables of Backfill in schema " + names.schema()
                            + " are at version " + applied + ", this library needs version " + Migration.CURRENT
                            + ". Start with SchemaMode.MIGRATE, or apply the missing migrations.",
                    null);
        }
        if (safeFrom > Migration.CURRENT) {
            throw new BackfillUnavailableException(
                    Reason.SCHEMA_INCOMPATIBLE,
                    "The tables of Backfill in schema " + names.schema()
                            + " are at version " + applied + " and need a library of schema version " + safeFrom
                            + " or newer; this one is of "
                            + Migration.CURRENT + ". Deploy the newer library here too.",
                    null);
        }
    }
}
