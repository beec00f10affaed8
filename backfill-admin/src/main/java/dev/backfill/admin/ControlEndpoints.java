package dev.backfill.admin;

import static dev.backfill.admin.WireJson.array;
import static dev.backfill.admin.WireJson.object;
import static dev.backfill.admin.WireJson.text;

import com.fasterxml.jackson.databind.node.ObjectNode;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.ValidationReport;
import org.jspecify.annotations.Nullable;

/** Everything that can be steered. What was done comes back as JSON, what was not as a {@link Problem}. */
final class ControlEndpoints {

    private final BackfillOperations operations;

    ControlEndpoints(BackfillOperations operations) {
        this.operations = operations;
    }

    ObjectNode perform(BackfillAction action, OperatorRequest request) {
        return switch (action) {
            case START -> moved(action, request, operations.start(request));
            case PAUSE -> moved(action, request, operations.pause(request));
            case RESUME -> moved(action, request, operations.resume(request));
            case RETRY -> moved(action, request, operations.retry(request));
            case VALIDATE -> validated(request, operations.validate(request));
        };
    }

    private static ObjectNode moved(BackfillAction action, OperatorRequest request, ActionOutcome outcome) {
        return outcome.match(
                applied -> done(request, "applied", applied.replayed(), applied.now()),
                converged -> done(request, "converged", converged.replayed(), converged.now()),
                conflict -> {
                    throw conflict(action.wireName(), conflict);
                });
    }

    private static ObjectNode done(OperatorRequest request, String result, boolean replayed, BackfillSnapshot now) {
        ObjectNode json = object();
        json.put("request_id", request.requestId());
        json.put("result", result);
        json.put("replayed", replayed);
        json.set("backfill", SnapshotJson.of(now));
        return json;
    }

    private static ObjectNode validated(OperatorRequest request, ValidationReport report) {
        return report.match(
                success -> validated(request, "success", success.replayed(), success.now()),
                failure -> {
                    ObjectNode json = validated(request, "failure", failure.replayed(), failure.now());
                    json.set("diagnostic", SnapshotJson.diagnostic(failure.diagnostic()));
                    return json;
                },
                none -> {
                    ObjectNode json = validated(request, "current-state", false, none.now());
                    json.put("reason", none.reason().wireName());
                    return json;
                },
                refused -> {
                    throw conflict(BackfillAction.VALIDATE.wireName(), refused.conflict());
                });
    }

    private static ObjectNode validated(
            OperatorRequest request, String outcome, boolean replayed, BackfillSnapshot now) {
        ObjectNode json = object();
        json.put("request_id", request.requestId());
        json.put("outcome", outcome);
        json.put("replayed", replayed);
        json.set("reason", text(null));
        json.set("diagnostic", SnapshotJson.diagnostic((@Nullable Diagnostic) null));
        json.set("backfill", SnapshotJson.of(now));
        return json;
    }

    /** What was refused, as a problem. */
    static Problem conflict(String action, ActionOutcome.Conflict conflict) {
        Problem problem = new Problem(409, conflict.code().wireName(), why(action, conflict))
                .and("backfill", SnapshotJson.of(conflict.now()));
        return conflict.findings().isEmpty() && conflict.code() != ConflictCode.PREFLIGHT_FAILED
                ? problem
                : problem.and("findings", array(conflict.findings(), ReadEndpoints::finding));
    }

    private static String why(String action, ActionOutcome.Conflict conflict) {
        String state = conflict.now().state().wireName();
        return switch (conflict.code()) {
            case ILLEGAL_TRANSITION -> "'" + action + "' does nothing from '" + state + "'; 'actions' lists what does.";
            case REQUEST_ID_REUSED ->
                "This request ID was used for another action, backfill or operator; choose a new one.";
            case UNKNOWN_HERE ->
                "This process has no definition of that ID, or can't read its row; ask one of the release that can.";
            case INCOMPATIBLE_SCHEMA -> "The database lacks something that the definition needs; migrate or grant it.";
            case PREFLIGHT_FAILED -> "Preflight found errors; 'findings' lists them.";
            case GENERATION_CONFLICT -> "The backfill has moved on since you looked; look again, then decide.";
        };
    }

    static Problem unavailable(BackfillUnavailableException e) {
        String message = e.getMessage() == null ? "PostgreSQL can't be used now." : e.getMessage();
        return new Problem(503, e.reason().wireName(), message)
                .with("Retry-After", e.reason() == Reason.BUSY ? "1" : "5");
    }
}
