package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillId;
import dev.backfill.Pacing;
import dev.backfill.operate.AccessDeniedException;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.Authority;
import dev.backfill.operate.Authority.Capability;
import dev.backfill.operate.BackfillAction;
import dev.backfill.operate.BackfillOperations;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.Evidence;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Overview;
import dev.backfill.operate.Pace;
import dev.backfill.operate.Preflight;
import dev.backfill.operate.Rehearsal;
import dev.backfill.operate.UnknownBackfillException;
import dev.backfill.operate.ValidationReport;
import dev.backfill.postgres.internal.events.Events;
import dev.backfill.spi.OperatorAuthorizer;
import java.sql.SQLException;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** The operator plane over PostgreSQL: authorizes first, then hands on (AU-1, AU-4). Thread-safe. */
public final class OperatorPlane implements BackfillOperations {

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
    public AuditRecord.Page audit(Authority authority, @Nullable BackfillId id, int limit, @Nullable Long before) {
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
    public Pace.Outcome pace(OperatorRequest request, @Nullable Pacing pacing) {
        return control(
                PaceControls.ACTION,
                request,
                handlers -> handlers.pace().set(request, pacing),
                outcome -> OperatorEvents.Told.ANSWERED);
    }

    @Override
    public Rehearsal.Outcome rehearse(OperatorRequest request) {
        return control(
                RehearsalControls.ACTION,
                request,
                handlers -> handlers.rehearsals().rehearse(request),
                outcome -> OperatorEvents.Told.ANSWERED);
    }

    @Override
    public ActionOutcome start(OperatorRequest request) {
        return move(BackfillAction.START, request);
    }

    @Override
    public ActionOutcome pause(OperatorRequest request) {
        return move(BackfillAction.PAUSE, request);
    }

    @Override
    public ActionOutcome resume(OperatorRequest request) {
        return move(BackfillAction.RESUME, request);
    }

    @Override
    public ActionOutcome retry(OperatorRequest request) {
        return move(BackfillAction.RETRY, request);
    }

    private ActionOutcome move(BackfillAction action, OperatorRequest request) {
        ActionOutcome outcome = control(
                action.wireName(),
                request,
                handlers -> handlers.lifecycle().perform(action, request),
                OperatorEvents::told);
        outcome.<Runnable>match(applied -> news, converged -> () -> {}, conflict -> () -> {})
                .run();
        return outcome;
    }

    @Override
    public ValidationReport validate(OperatorRequest request) {
        return control(
                BackfillAction.VALIDATE.wireName(),
                request,
                handlers -> handlers.validations().validate(request),
                OperatorEvents::told);
    }

    /** Every control: authorized, carried out, told of. */
    private <T> T control(
            String action, OperatorRequest request, Read<T> work, Function<? super T, OperatorEvents.Told> told) {
        if (!authorize(
                request.authority(), Capability.CONTROL, action, request.id().value(), request.requestId())) {
            throw new AccessDeniedException("This needs the deployment-operator capability CONTROL.");
        }
        long started = System.nanoTime();
        try {
            T outcome = reading(work);
            events.answered(request, action, told.apply(outcome), started);
            return outcome;
        } catch (UnknownBackfillException e) {
            events.answered(request, action, new OperatorEvents.Told("unknown_id", 0), started);
            throw e;
        } catch (BackfillUnavailableException e) {
            busy(action, request, e.reason());
            events.answered(request, action, new OperatorEvents.Told(e.reason().wireName(), 0), started);
            throw e;
        }
    }

    /** Who was told that the row is busy leaves a record, too: its transaction, with the record in it, was rolled back. */
    private void busy(String action, OperatorRequest request, BackfillUnavailableException.Reason reason) {
        if (reason == BackfillUnavailableException.Reason.BUSY) {
            rejected(request.authority(), action, request.id().value(), request.requestId(), AuditRecord.Outcome.BUSY);
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
            denials.record(context.get().trail(), authority, attempted, id, requestId, AuditRecord.Outcome.DENIED);
        } catch (BackfillUnavailableException e) {
            // Denied all the same; there is no table to say so in.
            return false;
        }
        return false;
    }

    @Override
    public void rejected(
            Authority authority,
            String attempted,
            @Nullable String id,
            @Nullable String requestId,
            AuditRecord.Outcome outcome) {
        try {
            denials.record(context.get().trail(), authority, attempted, id, requestId, outcome);
        } catch (BackfillUnavailableException e) {
            // Answered all the same; there is no table to say so in.
            return;
        }
    }

    private boolean permits(Authority authority, Capability capability) {
        try {
            return authority.kind() != Authority.Kind.ANONYMOUS && authorizer.permits(authority, capability);
        } catch (RuntimeException e) {
            return false;
        }
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
