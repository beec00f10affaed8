package dev.backfill.postgres.internal.migrate;

import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import dev.backfill.postgres.internal.jdbc.Redaction;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Objects;

/** What kept a migration from being applied: typed, naming the step and what to do. Stateless. */
public final class MigrationFailure {

    private MigrationFailure() {}

    static BackfillUnavailableException of(Migration step, Names names, Duration lockTimeout, SQLException e) {
        String state = Objects.requireNonNullElse(e.getSQLState(), "");
        String what = "Migration " + step.file() + " in schema " + names.schema();
        return switch (state) {
            case "55P03", "40P01", "57014" ->
                new BackfillUnavailableException(
                        Reason.BUSY,
                        what + " did not get its locks within " + lockTimeout.toSeconds()
                                + " s, so it gave way to running work. Nothing was applied; it is tried again.",
                        Redaction.of(e));
            case "42501" ->
                new BackfillUnavailableException(
                        Reason.PRIVILEGE_MISSING,
                        what
                                + " needs a privilege that this database role lacks. Grant CREATE on the schema and let the role"
                                + " own the tables, or apply the published migrations with another role and start with"
                                + " SchemaMode.VERIFY.",
                        Redaction.of(e));
            case "3F000" ->
                new BackfillUnavailableException(
                        Reason.SCHEMA_MISSING,
                        what
                                + " can't be applied: there is no such schema. Create it; the library creates tables only.",
                        Redaction.of(e));
            default ->
                new BackfillUnavailableException(
                        Reason.UNAVAILABLE,
                        what + " could not be applied"
                                + (state.matches("[0-9A-Z]{5}") ? " (SQLSTATE " + state + ")" : "")
                                + ". It is tried again.",
                        Redaction.of(e));
        };
    }
}
