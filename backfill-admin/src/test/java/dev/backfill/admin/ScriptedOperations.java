package dev.backfill.admin;

import dev.backfill.BackfillId;
import dev.backfill.Pacing;
import dev.backfill.operate.AccessDeniedException;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.Authority.Capability;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Evidence;
import dev.backfill.operate.HealthSignal;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Overview;
import dev.backfill.operate.Pace;
import dev.backfill.operate.Preflight;
import dev.backfill.operate.Rehearsal;
import dev.backfill.operate.UnknownBackfillException;
import dev.backfill.operate.ValidationReport;
import dev.backfill.spi.OperatorAuthorizer;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An operator plane that does what a test says, and otherwise follows the state machine in memory. It stands in for the engine
 * where only the protocol is judged; what the engine itself does is tested on PostgreSQL.
 */
final class ScriptedOperations implements BackfillOperations {

    private final OperatorAuthorizer authorizer;
    private final Map<BackfillId, BackfillSnapshot> rows = new TreeMap<>();
    private final Map<String, Stored> ledger = new ConcurrentHashMap<>();
    private final List<AuditRecord> audit = new CopyOnWriteArrayList<>();
    private final AtomicReference<@Nullable Function<OperatorRequest, ActionOutcome>> nextOutcome =
            new AtomicReference<>();
    private final AtomicReference<@Nullable Function<OperatorRequest, ValidationReport>> nextReport =
            new AtomicReference<>();
    private volatile @Nullable RuntimeException failure;
    private volatile @Nullable Preflight preflight;

    /** Requests that reached the plane. */
    final List<OperatorRequest> performed = new CopyOnWriteArrayList<>();

    /** What was asked and refused, as {@code authority/capability/attempted/id/requestId}. */
    final List<String> denials = new CopyOnWriteArrayList<>();

    ScriptedOperations(OperatorAuthorizer authorizer) {
        this.authorizer = authorizer;
    }

    synchronized ScriptedOperations put(Rows given) {
        rows.put(given.row().id(), given.row());
        return this;
    }

    /** Every read and control fails so, until null is given. */
    void failWith(@Nullable RuntimeException e) {
        failure = e;
    }

    void answerNext(Function<OperatorRequest, ActionOutcome> outcome) {
        nextOutcome.set(outcome);
    }

    void reportNext(Function<OperatorRequest, ValidationReport> report) {
        nextReport.set(report);
    }

    void preflightIs(Preflight found) {
        preflight = found;
    }

    void record(AuditLine line) {
        audit.add(0, line.record());
    }

    synchronized @Nullable BackfillSnapshot row(String id) {
        return rows.get(BackfillId.of(id));
    }

    private volatile @Nullable Pacing pacing;

    @Override
    public synchronized Overview list(Authority authority) {
        check(authority, Capability.READ);
        List<BackfillId> required = new ArrayList<>();
        List<Overview.Closing> closing = new ArrayList<>();
        for (BackfillSnapshot row : rows.values()) {
            if (row.required()) {
                required.add(row.id());
                if (row.state() != BackfillState.COMPLETED) {
                    closing.add(new Overview.Closing(row.id(), row.state(), true, row.diagnostic()));
                }
            }
        }
        return new Overview(Rows.T0, required, closing, List.copyOf(rows.values()), List.of());
    }

    @Override
    public synchronized BackfillSnapshot show(Authority authority, BackfillId id) {
        check(authority, Capability.READ);
        return known(id);
    }

    @Override
    public AuditRecord.Page audit(Authority authority, @Nullable BackfillId id, int limit, @Nullable Long before) {
        check(authority, Capability.READ);
        if (id != null) {
            known(id);
        }
        List<AuditRecord> all = audit.stream()
                .filter(item -> id == null || id.equals(item.id()))
                .filter(item -> before == null || item.auditId() < before)
                .toList();
        List<AuditRecord> page = all.subList(0, Math.min(limit, all.size()));
        return new AuditRecord.Page(
                page, page.size() < all.size() ? page.get(page.size() - 1).auditId() : null);
    }

    @Override
    public Preflight preflight(Authority authority, BackfillId id) {
        check(authority, Capability.READ);
        known(id);
        Preflight found = preflight;
        return found != null
                ? found
                : new Preflight(List.of(), List.of(), new Preflight.Estimates(null, null, null, null));
    }

    @Override
    public ActionOutcome start(OperatorRequest request) {
        return perform(BackfillAction.START, request);
    }

    @Override
    public ActionOutcome pause(OperatorRequest request) {
        return perform(BackfillAction.PAUSE, request);
    }

    @Override
    public ActionOutcome resume(OperatorRequest request) {
        return perform(BackfillAction.RESUME, request);
    }

    @Override
    public ActionOutcome retry(OperatorRequest request) {
        return perform(BackfillAction.RETRY, request);
    }

    private synchronized ActionOutcome perform(BackfillAction action, OperatorRequest request) {
        check(request.authority(), Capability.CONTROL);
        performed.add(request);
        Function<OperatorRequest, ActionOutcome> scripted = nextOutcome.getAndSet(null);
        if (scripted != null) {
            return scripted.apply(request);
        }
        BackfillSnapshot row = known(request.id());
        String fingerprint =
                action + "/" + request.id() + "/" + request.authority().fingerprint();
        Stored stored = ledger.get(request.requestId());
        if (stored != null) {
            return stored.fingerprint.equals(fingerprint)
                    ? stored.replay(row)
                    : new ActionOutcome.Conflict(ConflictCode.REQUEST_ID_REUSED, row, List.of(), false);
        }
        if (request.decidedOn() != null && request.decidedOn() != row.claim().generation()) {
            return new ActionOutcome.Conflict(ConflictCode.GENERATION_CONFLICT, row, List.of(), false);
        }
        String result = decide(action, row.state());
        BackfillSnapshot now = result.equals("applied") ? moved(action, request) : row;
        log(action, request, row.state(), now.state(), result);
        ledger.put(request.requestId(), new Stored(fingerprint, result));
        return new Stored(fingerprint, result).answer(now, false);
    }

    @Override
    public synchronized ValidationReport validate(OperatorRequest request) {
        check(request.authority(), Capability.CONTROL);
        performed.add(request);
        Function<OperatorRequest, ValidationReport> scripted = nextReport.getAndSet(null);
        if (scripted != null) {
            return scripted.apply(request);
        }
        BackfillSnapshot row = known(request.id());
        return row.state() == BackfillState.PENDING
                ? new ValidationReport.CurrentState(ValidationReport.Reason.NOT_STARTED, row)
                : new ValidationReport.Success(row, false);
    }

    @Override
    public void rejected(
            Authority authority,
            String attempted,
            @Nullable String id,
            @Nullable String requestId,
            AuditRecord.Outcome outcome) {
        denials.add(authority.name() + "/" + outcome.wireName() + "/" + attempted + "/" + id + "/" + requestId);
    }

    @Override
    public boolean authorize(
            Authority authority,
            Capability capability,
            String attempted,
            @Nullable String id,
            @Nullable String requestId) {
        boolean permitted = authorizer.permits(authority, capability);
        if (!permitted) {
            denials.add(authority.fingerprint() + "/" + capability + "/" + attempted + "/" + id + "/" + requestId);
        }
        return permitted;
    }

    private static String decide(BackfillAction action, BackfillState state) {
        if (action.appliesFrom().contains(state)) {
            return "applied";
        }
        return action.convergedOn().contains(state) ? "converged" : "illegal_transition";
    }

    private BackfillSnapshot moved(BackfillAction action, OperatorRequest request) {
        BackfillState to = action == BackfillAction.PAUSE ? BackfillState.PAUSED : BackfillState.RUNNING;
        BackfillSnapshot moved = Rows.moved(known(request.id()), to);
        rows.put(request.id(), moved);
        return moved;
    }

    private void log(
            BackfillAction action, OperatorRequest request, BackfillState before, BackfillState after, String outcome) {
        record(new AuditLine(
                audit.size() + 1L,
                Rows.T0.plusSeconds(audit.size()),
                request.authority().name(),
                request.authority().kind().wireName(),
                request.id().value(),
                request.requestId(),
                action.wireName(),
                before.wireName(),
                after.wireName(),
                1L,
                outcome,
                request.note()));
    }

    private BackfillSnapshot known(BackfillId id) {
        BackfillSnapshot row = rows.get(id);
        if (row == null) {
            throw new UnknownBackfillException("No backfill '" + id + "'.");
        }
        return row;
    }

    private void check(Authority authority, Capability capability) {
        RuntimeException failing = failure;
        if (failing != null) {
            throw failing;
        }
        if (!authorizer.permits(authority, capability)) {
            throw new AccessDeniedException("Not permitted.");
        }
    }

    /** When every definition was registered last; null for never. */
    volatile @Nullable Instant registeredAt = Rows.T0;

    @Override
    public synchronized Evidence evidence(Authority authority, BackfillId id) {
        check(authority, Capability.READ);
        return new ScriptedEvidence(known(id), registeredAt);
    }

    private record ScriptedEvidence(
            BackfillSnapshot backfill, @Nullable Instant lastRegisteredAt) implements Evidence {
        @Override
        public Instant asOf() {
            return Rows.T0.plusSeconds(3_600);
        }

        @Override
        public String table() {
            return "events";
        }

        @Override
        public String style() {
            return "update";
        }

        @Override
        public Integer batchSize() {
            return 1_000;
        }

        @Override
        public String registeredByLibrary() {
            return "0.1";
        }

        @Override
        public String library() {
            return "0.1";
        }

        @Override
        public String server() {
            return "17.2";
        }
    }

    /** The pace that was set last; null for the definition's own. */
    @Nullable
    Pacing paced() {
        return pacing;
    }

    @Override
    public Pace pace(Authority authority, BackfillId id) {
        check(authority, Capability.READ);
        HealthSignal lag = HealthSignal.notAvailable("replica_lag", 30.0, "s", "no standby streams from this server");
        Pacing own = pacing;
        return own == null
                ? new Pace(Pacing.unlimited(), false, null, null, List.of(lag))
                : new Pace(own, true, authority.name(), Rows.T0, List.of(lag));
    }

    @Override
    public Pace.Outcome pace(OperatorRequest request, @Nullable Pacing asked) {
        check(request.authority(), Capability.CONTROL);
        pacing = asked;
        return new Pace.Outcome.InForce(pace(request.authority(), request.id()), false);
    }

    @Override
    public Rehearsal.Outcome rehearse(OperatorRequest request) {
        check(request.authority(), Capability.CONTROL);
        Rehearsal.Sample first = new Rehearsal.Sample(
                "first", 1_000, 7, Duration.ofMillis(12), 4_096, List.of("RowExclusiveLock on events"), null);
        Rehearsal.Projection whole = new Rehearsal.Projection(
                10_000, 70, 900, Duration.ofMillis(120), Duration.ofMillis(900), 40_960, 90_000);
        return new Rehearsal.Outcome.Rehearsed(
                new Rehearsal(1_000, List.of(first), List.of("Index Scan using events_pkey on events"), whole));
    }

    private record Stored(String fingerprint, String result) {
        ActionOutcome replay(BackfillSnapshot now) {
            return answer(now, true);
        }

        ActionOutcome answer(BackfillSnapshot now, boolean replayed) {
            return switch (result) {
                case "applied" -> new ActionOutcome.Applied(now, replayed);
                case "converged" -> new ActionOutcome.Converged(now, replayed);
                default -> new ActionOutcome.Conflict(ConflictCode.ILLEGAL_TRANSITION, now, List.of(), replayed);
            };
        }
    }
}
