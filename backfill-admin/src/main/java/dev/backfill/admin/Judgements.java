package dev.backfill.admin;

import static dev.backfill.admin.WireJson.array;
import static dev.backfill.admin.WireJson.object;
import static dev.backfill.admin.WireJson.text;
import static dev.backfill.admin.WireJson.time;
import static dev.backfill.admin.WireJson.wide;

import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.backfill.BackfillId;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.Evidence;
import dev.backfill.operate.UnknownBackfillException;
import dev.backfill.operate.Verdicts;
import dev.backfill.operate.Verdicts.Verdict;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What may be done now, and what stands behind that (RM-4). */
final class Judgements {

    private static final int AUDIT_PAGE = 200;
    private static final int AUDIT_PAGES = 5;

    private final BackfillOperations operations;

    Judgements(BackfillOperations operations) {
        this.operations = operations;
    }

    /** Of a backfill, or of a family as a whole. */
    ObjectNode verdicts(Authority authority, BackfillId id) {
        try {
            return of(operations.verdicts(authority, id));
        } catch (UnknownBackfillException e) {
            List<Verdicts> parts = new ArrayList<>();
            for (BackfillSnapshot row : operations.list(authority).backfills()) {
                if (id.equals(row.family())) {
                    parts.add(operations.verdicts(authority, row.id()));
                }
            }
            if (parts.isEmpty()) {
                throw e;
            }
            return of(Verdicts.ofFamily(parts));
        }
    }

    ObjectNode evidence(Authority authority, BackfillId id) {
        Evidence evidence = operations.evidence(authority, id);
        ObjectNode json = object();
        json.set("as_of", time(evidence.asOf()));
        json.put("library", evidence.library());
        json.put("server", evidence.server());
        json.set("backfill", SnapshotJson.of(evidence.backfill()));
        ObjectNode definition = json.putObject("definition");
        definition.set("table", text(evidence.table()));
        definition.set("style", text(evidence.style()));
        definition.put("batch_size", evidence.batchSize());
        definition.set("last_registered_at", time(evidence.lastRegisteredAt()));
        definition.set("registered_by_library", text(evidence.registeredByLibrary()));
        json.set("verdicts", of(operations.verdicts(authority, id)));
        audit(json.putObject("audit"), authority, id);
        return json;
    }

    /** The newest thousand records; whether there are more says {@code next_before}. */
    private void audit(ObjectNode json, Authority authority, BackfillId id) {
        ArrayNode items = json.putArray("items");
        @Nullable Long before = null;
        for (int page = 0; page < AUDIT_PAGES; page++) {
            AuditRecord.Page found = operations.audit(authority, id, AUDIT_PAGE, before);
            found.items().forEach(item -> items.add(ReadEndpoints.item(item)));
            before = found.nextBefore();
            if (before == null) {
                break;
            }
        }
        json.set("next_before", wide(before));
    }

    private static ObjectNode of(Verdicts verdicts) {
        ObjectNode json = object();
        json.set("may_start", of(verdicts.mayStart()));
        json.set("may_contract", of(verdicts.mayContract()));
        json.set("may_remove_code", of(verdicts.mayRemoveCode()));
        json.set("time_left", WireJson.duration(verdicts.timeLeft()));
        return json;
    }

    private static ObjectNode of(Verdict verdict) {
        ObjectNode json = object();
        json.put("verdict", verdict.answer().wireName());
        json.set("reasons", array(verdict.reasons(), Judgements::reason));
        return json;
    }

    private static ObjectNode reason(Verdict.Reason reason) {
        ObjectNode json = object();
        json.put("code", reason.code());
        json.put("message", reason.message());
        return json;
    }
}
