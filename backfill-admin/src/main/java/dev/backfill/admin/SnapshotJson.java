package dev.backfill.admin;

import static dev.backfill.admin.WireJson.array;
import static dev.backfill.admin.WireJson.number;
import static dev.backfill.admin.WireJson.object;
import static dev.backfill.admin.WireJson.text;
import static dev.backfill.admin.WireJson.texts;
import static dev.backfill.admin.WireJson.time;
import static dev.backfill.admin.WireJson.wide;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.JsonNodeFactory;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.Waiting;
import org.jspecify.annotations.Nullable;

/** A backfill on the wire; the same in lists, details, answers and refusals. */
final class SnapshotJson {

    private SnapshotJson() {}

    static ObjectNode of(BackfillSnapshot row) {
        ObjectNode json = object();
        json.put("id", row.id().value());
        json.put("description", row.description());
        ObjectNode labels = json.putObject("labels");
        row.labels().forEach(labels::put);
        json.put("state", row.state().wireName());
        json.put("family", row.family() == null ? null : row.family().value());
        json.put("known_here", row.knownHere());
        json.put("required", row.required());
        json.put("changed_nothing", row.changedNothing());
        json.set("bound", bound(row.bound()));
        json.set("checkpoint", texts(row.checkpoint()));
        json.set("key_type", texts(row.keyType()));
        json.set("progress", progress(row.progress()));
        json.set("claim", claim(row.claim()));
        json.set("retry", retry(row.retry()));
        json.set("diagnostic", diagnostic(row.diagnostic()));
        json.set("validation", validation(row.validation()));
        json.set("actions", array(row.actions(), action -> text(action.wireName())));
        json.set("waiting", waiting(row.waiting()));
        json.set("registered_at", time(row.times().registeredAt()));
        json.set("started_at", time(row.times().startedAt()));
        json.set("last_progress_at", time(row.times().lastProgressAt()));
        json.set("validating_at", time(row.times().validatingAt()));
        json.set("completed_at", time(row.times().completedAt()));
        json.set("completed_lsn", text(row.completedLsn()));
        return json;
    }

    static JsonNode diagnostic(@Nullable Diagnostic diagnostic) {
        if (diagnostic == null) {
            return JsonNodeFactory.instance.nullNode();
        }
        ObjectNode json = object();
        json.put("code", diagnostic.code());
        json.put("message", diagnostic.message());
        json.set("sql_state", text(diagnostic.sqlState()));
        json.set("at", time(diagnostic.at()));
        return json;
    }

    private static ObjectNode bound(BackfillSnapshot.Bound bound) {
        ObjectNode json = object();
        json.put("kind", bound.kind().wireName());
        json.set("key", texts(bound.key()));
        json.set("after", texts(bound.after()));
        return json;
    }

    private static ObjectNode progress(BackfillSnapshot.Progress progress) {
        ObjectNode json = object();
        json.set("rows_scanned", wide(progress.rowsScanned()));
        json.set("rows_changed", wide(progress.rowsChanged()));
        json.set("batches", wide(progress.batches()));
        json.set("fraction", number(progress.fraction()));
        json.set("rows_total", wide(progress.rowsTotal()));
        json.set("rows_per_second", number(progress.rowsPerSecond()));
        json.set("eta", WireJson.duration(progress.eta()));
        return json;
    }

    private static ObjectNode claim(BackfillSnapshot.Claim claim) {
        ObjectNode json = object();
        json.put("status", claim.status().wireName());
        json.set("owner", text(claim.owner()));
        json.set("generation", wide(claim.generation()));
        json.set("expires_at", time(claim.expiresAt()));
        return json;
    }

    private static ObjectNode retry(BackfillSnapshot.Retry retry) {
        ObjectNode json = object();
        json.put("attempt", retry.attempt());
        json.put("max_attempts", retry.maxAttempts());
        json.set("next_at", time(retry.nextAt()));
        json.set("last_error", diagnostic(retry.lastError()));
        return json;
    }

    private static ObjectNode validation(BackfillSnapshot.ValidationStatus validation) {
        ObjectNode json = object();
        json.put("disposition", validation.disposition().wireName());
        json.set("at", time(validation.at()));
        json.set("request_id", text(validation.requestId()));
        json.set("diagnostic", diagnostic(validation.diagnostic()));
        return json;
    }

    private static JsonNode waiting(@Nullable Waiting waiting) {
        if (waiting == null) {
            return JsonNodeFactory.instance.nullNode();
        }
        ObjectNode json = object();
        json.put("reason", waiting.reason().wireName());
        json.put("detail", waiting.detail());
        json.set("since", time(waiting.since()));
        return json;
    }
}
