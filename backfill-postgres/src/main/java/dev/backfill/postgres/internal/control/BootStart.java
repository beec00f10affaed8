package dev.backfill.postgres.internal.control;

import dev.backfill.internal.BoundedText;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.operate.UnknownBackfillException;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;

/**
 * The start of automatic mode; any row that is not pending is left alone. Thread-safe.
 *
 * @param lifecycle starts it
 * @param events tells of it
 */
public record BootStart(LifecycleControls lifecycle, OperatorEvents events) {

    /**
     * Why a required row could not be started.
     *
     * @param code the code that readiness tells
     * @param findings what was found, by code and the identifier that it is about; for a log line, and empty where nothing was
     */
    public record Refusal(ConflictCode code, String findings) {}

    /**
     * Starts a required row that is pending.
     *
     * @param tellRefusal whether a refusal is worth a record and an event; one that is repeated is not
     * @return why a pending row could not be started; empty otherwise
     */
    public Optional<Refusal> start(OperatorRequest request, boolean tellRefusal) throws SQLException {
        long began = System.nanoTime();
        ActionOutcome outcome;
        try {
            outcome = lifecycle.startQuietly(request, tellRefusal).orElse(null);
        } catch (UnknownBackfillException e) {
            return Optional.of(new Refusal(ConflictCode.UNKNOWN_HERE, ""));
        }
        if (outcome == null) {
            return Optional.empty();
        }
        Optional<Refusal> refusal = outcome.match(
                applied -> Optional.empty(),
                converged -> Optional.empty(),
                conflict -> Optional.of(new Refusal(conflict.code(), named(conflict.findings()))));
        if (refusal.isEmpty() || tellRefusal) {
            events.answered(request, BackfillAction.START.wireName(), OperatorEvents.told(outcome), began);
        }
        return refusal;
    }

    private static String named(List<Finding> findings) {
        String all = findings.stream()
                .map(finding -> finding.code().wireName() + " on " + finding.subject())
                .collect(Collectors.joining(", "));
        return BoundedText.clean(all, Diagnostic.MAX_MESSAGE);
    }
}
