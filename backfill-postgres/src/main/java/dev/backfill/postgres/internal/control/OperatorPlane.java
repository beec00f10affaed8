package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillId;
import dev.backfill.Pacing;
import dev.backfill.internal.BoundedText;
import dev.backfill.operate.AccessDeniedException;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.AuditPage;
import dev.backfill.operate.Authority;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.Capability;
import dev.backfill.operate.ControlRequest;
import dev.backfill.operate.Evidence;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Overview;
import dev.backfill.operate.Pace;
import dev.backfill.operate.PaceOutcome;
import dev.backfill.operate.Preflight;
import dev.backfill.operate.RehearsalOutcome;
import dev.backfill.operate.ValidationReport;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.spi.OperatorAuthorizer;
import java.sql.SQLException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The operator plane over PostgreSQL: authorizes first, then hands on (AU-1, AU-4). Thread-safe. */
public final class OperatorPlane implements BackfillOperations {

    private static final int MOST_OUTCOME = 24;

    private final OperatorAuthorizer authorizer;
    private final Supplier<OperatorHandlers> context;
    private final OperatorEvents events;
    private final Runnable news;
    private final DenialLog denials = new DenialLog();

    /**
     * Over an engine that may not be ready yet.
     *
     * @param context what answers them; throws {@link BackfillUnavailableException} while the tables can't be used
     * @param news told after an action moved a row, so that this process need not wait until it looks again
     */
    public OperatorPlane(
            OperatorAuthorizer authorizer, Supplier<OperatorHandlers> context, Events events, Runnable news) {
        this.authorizer = authorizer;
        this.context = context;
        this.events = new OperatorEvents(events);
        this.news = news;
    }

    @Override
    public Overview list(Authority authority) {
        require(authority, "list", null);
        Overview overview = reading(handlers -> handlers.reads().list());
        if (overview.backfills().stream().anyMatch(row -> row.diagnostic() != null)) {
            events.read(authority, null, "list");
        }
        return overview;
    }

    @Override
    public BackfillSnapshot show(Authority authority, BackfillId id) {
        require(authority, "show", id);
        events.read(authority, id, "show");
        return reading(handlers -> handlers.reads().show(id));
    }

    @Override
    public AuditPage audit(Authority authority, @Nullable BackfillId id, int limit, @Nullable Long before) {
        if (limit < 1 || limit > 200) {
            throw new IllegalArgumentException("limit must be 1 to 200, got " + limit);
        }
        require(authority, "audit", id);
        events.read(authority, id, "audit");
        return reading(handlers -> {
            denials.flush(handlers.trail());
            return handlers.reads().page(id, limit, before);
        });
    }

    @Override
    public Preflight preflight(Authority authority, BackfillId id) {
        require(authority, "preflight", id);
        events.read(authority, id, "preflight");
        return reading(handlers -> handlers.reads().preflight(id));
    }

    @Override
    public Evidence evidence(Authority authority, BackfillId id) {
        require(authority, "evidence", id);
        events.read(authority, id, "evidence");
        return reading(handlers -> handlers.reads().evidence(id));
    }

    @Override
    public Pace pace(Authority authority, BackfillId id) {
        require(authority, "pace", id);
        return reading(handlers -> handlers.pace().read(id));
    }

    @Override
    public PaceOutcome pace(ControlRequest request, @Nullable Pacing pacing) {
        return beside(
                request,
                PaceControls.ACTION,
                handlers -> handlers.pace().set(request, pacing),
                PaceOutcome.Refused::new);
    }

    @Override
    public RehearsalOutcome rehearse(ControlRequest request) {
        return beside(
                request,
                RehearsalControls.ACTION,
                handlers -> handlers.rehearsals().rehearse(request),
                RehearsalOutcome.Refused::new);
    }

    /** A control beside the lifecycle. */
    private <T> T beside(
            ControlRequest request, String action, Read<T> control, Function<ActionOutcome.Refusal, T> refusal) {
        if (!authorize(
                request.authority(), Capability.CONTROL, action, request.id().value(), request.requestId())) {
            return refusal.apply(new ActionOutcome.Denied());
        }
        try {
            OperatorHandlers handlers = context.get();
            long started = System.nanoTime();
            T outcome = control.from(handlers);
            events.answered(request, action, started);
            return outcome;
        } catch (SQLException e) {
            return refusal.apply(
                    unavailable(request.authority(), action, request.id(), request.requestId(), Unavailability.of(e)));
        } catch (BackfillUnavailableException e) {
            return refusal.apply(unavailable(request.authority(), action, request.id(), request.requestId(), e));
        }
    }

    @Override
    public ActionOutcome perform(OperatorRequest request) {
        if (request.action() == BackfillAction.VALIDATE) {
            throw new IllegalArgumentException("validate has a method of its own");
        }
        if (!allowed(request)) {
            return new ActionOutcome.Denied();
        }
        long started = System.nanoTime();
        ActionOutcome outcome = carryOut(request);
        if (outcome instanceof ActionOutcome.Applied) {
            news.run();
        }
        return events.answered(request, outcome, started);
    }

    private ActionOutcome carryOut(OperatorRequest request) {
        try {
            return context.get().lifecycle().perform(request);
        } catch (SQLException e) {
            return unavailable(request, Unavailability.of(e));
        } catch (BackfillUnavailableException e) {
            return unavailable(request, e);
        }
    }

    @Override
    public ValidationReport validate(OperatorRequest request) {
        if (request.action() != BackfillAction.VALIDATE) {
            throw new IllegalArgumentException(request.action() + " is not a validation; use perform");
        }
        if (!allowed(request)) {
            return new ValidationReport.Refused(new ActionOutcome.Denied());
        }
        long started = System.nanoTime();
        return events.answered(request, prove(request), started);
    }

    private ValidationReport prove(OperatorRequest request) {
        try {
            return context.get().validations().validate(request);
        } catch (SQLException e) {
            return new ValidationReport.Refused(unavailable(request, Unavailability.of(e)));
        } catch (BackfillUnavailableException e) {
            return new ValidationReport.Refused(unavailable(request, e));
        }
    }

    @Override
    public boolean authorize(
            Authority authority,
            Capability capability,
            String attempted,
            @Nullable String id,
            @Nullable String requestId) {
        if (permits(authority, capability)) {
            return true;
        }
        events.denied(authority);
        try {
            denials.record(context.get().trail(), authority, attempted, id, requestId, "denied");
        } catch (BackfillUnavailableException e) {
            // Denied all the same; there is no table to say so in.
            return false;
        }
        return false;
    }

    @Override
    public void rejected(
            Authority authority, String attempted, @Nullable String id, @Nullable String requestId, String outcome) {
        try {
            denials.record(
                    context.get().trail(),
                    authority,
                    attempted,
                    id,
                    requestId,
                    BoundedText.clean(outcome, MOST_OUTCOME));
        } catch (BackfillUnavailableException e) {
            // Answered all the same; there is no table to say so in.
            return;
        }
    }

    /** Who was told that the row is busy leaves a record, too: its transaction, with the record in it, was rolled back. */
    private ActionOutcome.Unavailable unavailable(OperatorRequest request, BackfillUnavailableException e) {
        return unavailable(request.authority(), request.action().wireName(), request.id(), request.requestId(), e);
    }

    private ActionOutcome.Unavailable unavailable(
            Authority authority, String action, BackfillId id, String requestId, BackfillUnavailableException e) {
        if (e.reason() == BackfillUnavailableException.Reason.BUSY) {
            rejected(authority, action, id.value(), requestId, e.reason().wireName());
        }
        return Unavailability.outcome(e);
    }

    private boolean permits(Authority authority, Capability capability) {
        try {
            return authority.kind() != Authority.Kind.ANONYMOUS && authorizer.permits(authority, capability);
        } catch (RuntimeException e) {
            return false;
        }
    }

    private boolean allowed(OperatorRequest request) {
        return authorize(
                request.authority(),
                Capability.CONTROL,
                request.action().wireName(),
                request.id().value(),
                request.requestId());
    }

    private void require(Authority authority, String attempted, @Nullable BackfillId id) {
        if (!authorize(authority, Capability.READ, attempted, id == null ? null : id.value(), null)) {
            throw new AccessDeniedException("This needs the deployment-operator capability READ.");
        }
    }

    private <T> T reading(Read<T> read) {
        try {
            return read.from(context.get());
        } catch (SQLException e) {
            throw Unavailability.of(e);
        }
    }

    @FunctionalInterface
    private interface Read<T> {
        T from(OperatorHandlers handlers) throws SQLException;
    }

    /** Writes what is still only counted. */
    public void flush() {
        try {
            denials.flush(context.get().trail());
        } catch (BackfillUnavailableException e) {
            // Nothing to write it to.
            return;
        }
    }
}
