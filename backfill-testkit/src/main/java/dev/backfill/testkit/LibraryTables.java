package dev.backfill.testkit;

import dev.backfill.BackfillId;
import dev.backfill.internal.Identifiers;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The library's tables as a test sees and tampers with them, past the engine. */
final class LibraryTables {

    private final TestDatabase database;
    private final String prefix;

    LibraryTables(TestDatabase database, @Nullable String schema) {
        this.database = database;
        this.prefix = schema == null ? "" : Identifiers.quote(schema) + ".";
    }

    Map<String, @Nullable String> row(BackfillId id) {
        List<Map<String, @Nullable String>> rows =
                database.queryRows("select * from " + prefix + "backfill where id = ?", id.value());
        if (rows.isEmpty()) {
            throw new IllegalStateException("There is no row for backfill " + id
                    + ". A harness knows the definitions it was opened" + " with; these are registered: "
                    + database.queryTexts("select id from " + prefix + "backfill order by id"));
        }
        return rows.get(0);
    }

    List<Map<String, @Nullable String>> audit(BackfillId id) {
        return database.queryRows(
                "select * from " + prefix + "backfill_audit where id = ? order by audit_id", id.value());
    }

    void tamper(BackfillId id, String column, @Nullable String value) {
        String type = row(id).containsKey(column)
                ? database.queryText(
                        "select format_type(atttypid, atttypmod) from pg_attribute where attrelid = ?::regclass and attname = ?",
                        prefix + "backfill",
                        column)
                : null;
        if (type == null) {
            throw new IllegalArgumentException(
                    "The table backfill has no column '" + column + "'; it has " + row(id).keySet());
        }
        change(id, Identifiers.quote(column) + " = ?::text::" + type, value);
    }

    void expireLease(BackfillId id) {
        if (row(id).get("claim_token") == null) {
            throw new IllegalStateException(
                    "Nobody holds a claim on backfill " + id + " whose lease could expire; it is "
                            + row(id).get("state") + ". Step a worker first, and don't close it.");
        }
        database.update(
                "update " + prefix
                        + "backfill set claim_expires_at = clock_timestamp() - interval '1 second' where id = ?",
                id.value());
    }

    void clearRetryDelay(BackfillId id) {
        change(id, "next_attempt_at = ?::text::timestamptz", null);
    }

    private void change(BackfillId id, String assignment, @Nullable String value) {
        long changed =
                database.update("update " + prefix + "backfill set " + assignment + " where id = ?", value, id.value());
        if (changed != 1) {
            throw new IllegalStateException("There is no row for backfill " + id + ".");
        }
    }
}
