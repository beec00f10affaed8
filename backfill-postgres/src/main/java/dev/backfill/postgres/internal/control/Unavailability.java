package dev.backfill.postgres.internal.control;

import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import dev.backfill.postgres.internal.jdbc.Redaction;
import dev.backfill.postgres.internal.jdbc.UnusableConnectionException;
import dev.backfill.postgres.internal.row.AuditSql.AuditFailedException;
import java.sql.SQLException;
import java.util.Objects;

/** Turns what PostgreSQL answered into a typed "not now": reason and remedy, never a driver's message (AU-5). Stateless. */
public final class Unavailability {

    private Unavailability() {}

    /** What the caller is told. */
    public static BackfillUnavailableException of(SQLException e) {
        if (e instanceof AuditFailedException) {
            return new BackfillUnavailableException(
                    Reason.AUDIT_UNAVAILABLE,
                    "The audit record could not be written, so nothing was"
                            + " changed. Repair the audit table or sink; the same request may be repeated.",
                    Redaction.of(e));
        }
        if (e instanceof UnusableConnectionException) {
            return new BackfillUnavailableException(
                    Reason.UNAVAILABLE,
                    Objects.requireNonNullElse(e.getMessage(), "The connection is unusable."),
                    Redaction.of(e));
        }
        return ofState(Objects.requireNonNullElse(e.getSQLState(), ""), Redaction.of(e));
    }

    private static BackfillUnavailableException ofState(String state, Throwable redacted) {
        return switch (state) {
            case "55P03", "40P01", "57014" ->
                new BackfillUnavailableException(
                        Reason.BUSY,
                        "The backfill's row is locked by other"
                                + " work and was not had in time. Nothing was changed; repeat the same request.",
                        redacted);
            case "42P01", "3F000" ->
                new BackfillUnavailableException(
                        Reason.SCHEMA_MISSING,
                        "The tables of Backfill are not there."
                                + " SchemaMode.MIGRATE makes them with its next attempt; in any other mode apply the published"
                                + " migrations.",
                        redacted);
            case "42501" ->
                new BackfillUnavailableException(
                        Reason.PRIVILEGE_MISSING,
                        "This database role lacks a privilege on the"
                                + " tables of Backfill. Grant SELECT, INSERT and UPDATE on them, and DELETE on backfill_pace.",
                        redacted);
            case "0A000", "25006" ->
                new BackfillUnavailableException(
                        Reason.UNAVAILABLE,
                        "PostgreSQL refuses to write (SQLSTATE "
                                + state
                                + "): this server is a read-only standby, or the database, role or session is read-only."
                                + " Nothing was changed. Connect to the primary, or wait until writes are permitted.",
                        redacted);
            default ->
                new BackfillUnavailableException(
                        Reason.UNAVAILABLE,
                        "PostgreSQL could not be used"
                                + (state.matches("[0-9A-Z]{5}") ? " (SQLSTATE " + state + ")" : "")
                                + ". Nothing is known to have changed; repeat the same request.",
                        redacted);
        };
    }
}
