package dev.backfill.postgres.observe;

import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.spi.BackfillEvent;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/** Every value that a label may have (OB-2). */
final class Vocabularies {

    static final List<String> KINDS = of(BackfillEvent.Kind.values(), BackfillEvent.Kind::wireName);
    static final List<String> CODES = of(DiagnosticCode.values(), DiagnosticCode::wireName);
    static final List<String> GUARDS = List.of("generation", "token", "lease", "range", "checkpoint");
    static final List<String> STATES_AFTER_STOP = of(BackfillState.values(), BackfillState::wireName);
    static final List<String> VERDICTS = List.of("landed", "rolled_back", "history_changed", "superseded", "unknown");
    static final List<String> ACTIONS = actions();
    static final List<String> ACTION_OUTCOMES = actionOutcomes();
    static final List<String> AUTHORITIES = of(Authority.Kind.values(), Authority.Kind::wireName);
    static final List<String> VALIDATION_OUTCOMES = List.of("success", "failure");
    static final List<String> READS = List.of("list", "show", "audit", "preflight", "evidence");
    static final List<String> UNREADABLE = List.of("no-definition", "key-type", "key-ranges", "row-format");

    // A host's own health probes have names of the host's own: they are "other" here, and named in the log.
    static final List<String> SIGNALS = List.of(
            "pace",
            "replica_lag",
            "slot_retention",
            "archiver_backlog",
            "autovacuum",
            "lock_waits_caused",
            "pool_wait");

    private Vocabularies() {}

    private static List<String> actions() {
        List<String> actions = new ArrayList<>(of(BackfillAction.values(), BackfillAction::wireName));
        actions.addAll(List.of("pace", "rehearse"));
        return List.copyOf(actions);
    }

    private static List<String> actionOutcomes() {
        List<String> outcomes = new ArrayList<>(List.of(
                "applied", "converged", "replayed", "success", "failure", "current_state", "unknown_id", "answered"));
        outcomes.addAll(of(ConflictCode.values(), ConflictCode::wireName));
        outcomes.addAll(
                of(BackfillUnavailableException.Reason.values(), BackfillUnavailableException.Reason::wireName));
        return List.copyOf(outcomes);
    }

    private static <E> List<String> of(E[] values, Function<E, String> name) {
        return Arrays.stream(values).map(name).toList();
    }
}
