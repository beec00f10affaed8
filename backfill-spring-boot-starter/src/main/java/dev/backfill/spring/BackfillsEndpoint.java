package dev.backfill.spring;

import dev.backfill.BackfillId;
import dev.backfill.InvalidDefinitionException;
import dev.backfill.operate.AccessDeniedException;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Overview;
import dev.backfill.operate.UnknownBackfillException;
import dev.backfill.operate.ValidationReport;
import java.security.Principal;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import java.util.function.Supplier;
import org.springframework.boot.actuate.endpoint.SecurityContext;
import org.springframework.boot.actuate.endpoint.annotation.Endpoint;
import org.springframework.boot.actuate.endpoint.annotation.ReadOperation;
import org.springframework.boot.actuate.endpoint.annotation.Selector;
import org.springframework.boot.actuate.endpoint.annotation.WriteOperation;
import org.springframework.boot.actuate.endpoint.web.WebEndpointResponse;
import org.springframework.lang.Nullable;

/**
 * {@code /actuator/backfills}: list, show, and the five actions. Whom Actuator's security lets through is an operator, by the name of the
 * principal where there is one (AU-2), unless the application's own authorizer says otherwise.
 */
@Endpoint(id = "backfills")
final class BackfillsEndpoint {

    private final BackfillOperations operations;

    BackfillsEndpoint(BackfillOperations operations) {
        this.operations = operations;
    }

    /** Every backfill and the gate. */
    @ReadOperation
    public WebEndpointResponse<Map<String, Object>> list(SecurityContext caller) {
        return answer(() -> {
            Overview overview = operations.list(authority(caller));
            Map<String, Object> json = new LinkedHashMap<>();
            json.put("as_of", overview.asOf().toString());
            json.put(
                    "backfills",
                    overview.backfills().stream().map(SnapshotMap::of).toList());
            return new WebEndpointResponse<>(json);
        });
    }

    /** One backfill. */
    @ReadOperation
    public WebEndpointResponse<Map<String, Object>> show(SecurityContext caller, @Selector String id) {
        return answer(
                () -> new WebEndpointResponse<>(SnapshotMap.of(operations.show(authority(caller), BackfillId.of(id)))));
    }

    /**
     * Asks for an action.
     *
     * @param action start, pause, resume, retry or validate
     * @param requestId the same for every repeat of the request; left out, a repeat is another request
     * @param note why, for the audit
     */
    @WriteOperation
    public WebEndpointResponse<Map<String, Object>> act(
            SecurityContext caller,
            @Selector String id,
            String action,
            @Nullable String requestId,
            @Nullable String note) {
        Optional<BackfillAction> known = BackfillAction.ofWireName(action);
        if (known.isEmpty()) {
            return said(400, "unknown_action");
        }
        return answer(() -> act(
                known.get(),
                new OperatorRequest(
                        BackfillId.of(id),
                        requestId == null ? UUID.randomUUID().toString() : requestId,
                        authority(caller),
                        note)));
    }

    private WebEndpointResponse<Map<String, Object>> act(BackfillAction action, OperatorRequest request) {
        return switch (action) {
            case START -> of(operations.start(request));
            case PAUSE -> of(operations.pause(request));
            case RESUME -> of(operations.resume(request));
            case RETRY -> of(operations.retry(request));
            case VALIDATE -> of(operations.validate(request));
        };
    }

    private static WebEndpointResponse<Map<String, Object>> of(ActionOutcome outcome) {
        return outcome.match(
                applied -> said(200, "applied", SnapshotMap.of(applied.now())),
                converged -> said(200, "converged", SnapshotMap.of(converged.now())),
                conflict -> said(409, conflict.code().wireName(), SnapshotMap.of(conflict.now())));
    }

    private static WebEndpointResponse<Map<String, Object>> of(ValidationReport report) {
        return report.match(
                success -> said(200, "success", SnapshotMap.of(success.now())),
                failure -> said(200, "failure", SnapshotMap.of(failure.now())),
                none -> said(200, "current-state", SnapshotMap.of(none.now())),
                refused -> of(refused.conflict()));
    }

    private static Authority authority(SecurityContext caller) {
        Principal principal = caller.getPrincipal();
        return principal == null ? Authority.protectedNetwork() : Authority.operator(principal.getName());
    }

    private static WebEndpointResponse<Map<String, Object>> answer(
            Supplier<WebEndpointResponse<Map<String, Object>>> question) {
        try {
            return question.get();
        } catch (AccessDeniedException e) {
            return said(403, "denied");
        } catch (UnknownBackfillException | InvalidDefinitionException e) {
            return said(404, "unknown_id");
        } catch (IllegalArgumentException e) {
            return said(400, "malformed");
        } catch (BackfillUnavailableException e) {
            return said(503, "unavailable");
        }
    }

    private static WebEndpointResponse<Map<String, Object>> said(int status, String result) {
        return new WebEndpointResponse<>(Map.of("result", result), status);
    }

    private static WebEndpointResponse<Map<String, Object>> said(
            int status, String result, Map<String, Object> backfill) {
        return new WebEndpointResponse<>(Map.of("result", result, "backfill", backfill), status);
    }
}
