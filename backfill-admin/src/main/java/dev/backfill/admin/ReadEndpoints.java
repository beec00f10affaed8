package dev.backfill.admin;

import static dev.backfill.admin.WireJson.array;
import static dev.backfill.admin.WireJson.object;
import static dev.backfill.admin.WireJson.text;
import static dev.backfill.admin.WireJson.time;
import static dev.backfill.admin.WireJson.wide;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.backfill.BackfillId;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Overview;
import dev.backfill.operate.Preflight;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.operate.UnknownBackfillException;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Everything that can be seen. */
final class ReadEndpoints {

    private final BackfillOperations operations;

    ReadEndpoints(BackfillOperations operations) {
        this.operations = operations;
    }

    ObjectNode list(Authority authority, ListQuery query) {
        Overview overview = operations.list(authority);
        ObjectNode json = object();
        json.set("as_of", time(overview.asOf()));
        json.set("gate", gate(overview));
        ObjectNode counts = json.putObject("counts");
        Map<BackfillState, Integer> found = ListPage.put(json, "backfills", overview.backfills(), query);
        for (BackfillState state : BackfillState.values()) {
            counts.put(state.wireName(), found.getOrDefault(state, 0));
        }
        return json;
    }

    /** One backfill, or a family: the sum of its parts, and the parts page by page. */
    ObjectNode detail(Authority authority, BackfillId id, @Nullable String rawQuery) {
        try {
            return SnapshotJson.of(operations.show(authority, id));
        } catch (UnknownBackfillException e) {
            List<BackfillSnapshot> parts = operations.list(authority).backfills().stream()
                    .filter(row -> id.equals(row.family()))
                    .toList();
            if (parts.isEmpty()) {
                throw e;
            }
            ObjectNode json = FamilySum.of(id.value(), parts);
            ListPage.put(json, "parts", parts, ListQuery.parts(id, rawQuery));
            return json;
        }
    }

    ObjectNode audit(Authority authority, @Nullable BackfillId id, AuditQuery query) {
        AuditRecord.Page page = operations.audit(authority, id, query.limit(), query.before());
        ObjectNode json = object();
        json.set("items", array(page.items(), ReadEndpoints::item));
        json.set("next_before", wide(page.nextBefore()));
        return json;
    }

    ObjectNode preflight(Authority authority, BackfillId id) {
        Preflight found = operations.preflight(authority, id);
        ObjectNode json = object();
        json.set("errors", array(found.errors(), ReadEndpoints::finding));
        json.set("warnings", array(found.warnings(), ReadEndpoints::finding));
        ObjectNode estimates = json.putObject("estimates");
        estimates.set("rows", wide(found.estimates().rows()));
        estimates.set("rows_basis", text(found.estimates().rowsBasis()));
        estimates.set("wal_bytes", wide(found.estimates().walBytes()));
        estimates.set("wal_basis", text(found.estimates().walBasis()));
        return json;
    }

    static ObjectNode finding(Finding finding) {
        ObjectNode json = object();
        json.put("code", finding.code().wireName());
        json.put("subject", finding.subject());
        json.put("message", finding.message());
        return json;
    }

    private static ObjectNode gate(Overview overview) {
        ObjectNode json = object();
        json.put("mode", overview.isAutomatic() ? "automatic" : "manual");
        json.put("state", overview.isOpen() ? "open" : "closed");
        json.set("required", array(overview.required(), id -> text(id.value())));
        json.set("reasons", array(overview.closedBy(), ReadEndpoints::reason));
        return json;
    }

    private static ObjectNode reason(Overview.Closing reason) {
        ObjectNode json = object();
        json.put("id", reason.id().value());
        json.put("state", reason.state().wireName());
        json.put("code", reason.code());
        return json;
    }

    static ObjectNode item(AuditRecord item) {
        ObjectNode json = object();
        json.set("audit_id", wide(item.auditId()));
        json.set("at", time(item.at()));
        json.set("actor", text(item.authority().name()));
        json.put("authority", item.authority().kind().wireName());
        json.set("id", text(item.id() == null ? null : item.id().value()));
        json.set("request_id", text(item.requestId()));
        json.put("action", item.action());
        json.set("prior_state", state(item.priorState()));
        json.set("resulting_state", state(item.resultingState()));
        json.set("generation", wide(item.generation()));
        json.put("outcome", item.outcome().wireName());
        json.set("note", text(item.note()));
        return json;
    }

    private static JsonNode state(@Nullable BackfillState state) {
        return text(state == null ? null : state.wireName());
    }
}
