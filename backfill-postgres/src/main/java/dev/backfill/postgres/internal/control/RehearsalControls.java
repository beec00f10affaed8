package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillDefinition;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import dev.backfill.operate.ConflictCode;
import dev.backfill.operate.ControlRequest;
import dev.backfill.operate.RehearsalOutcome;
import dev.backfill.postgres.internal.batch.TableFacts;
import dev.backfill.postgres.internal.control.LifecycleControls.RefusedException;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.preflight.Rehearser;
import dev.backfill.postgres.internal.preflight.SchemaCheck;
import dev.backfill.postgres.internal.row.RowSql.Row;
import dev.backfill.postgres.internal.supervise.RehearsalThreads;
import dev.backfill.postgres.internal.supervise.RehearsalThreads.Place;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Rehearsals that operators ask for: audited first, in a transaction of its own, then run and rolled back. Thread-safe.
 *
 * @param plane what the handlers share
 * @param threads where they run
 */
public record RehearsalControls(PlaneContext plane, RehearsalThreads threads) {

    static final String ACTION = "rehearse";

    RehearsalOutcome rehearse(ControlRequest request) throws SQLException {
        SideControl control = new SideControl(plane, request, ACTION);
        Optional<Place> free = threads.enter(request.id());
        if (free.isEmpty()) {
            return busy(control, request);
        }
        try (Place place = free.get()) {
            return rehearse(request, control, place);
        }
    }

    private RehearsalOutcome rehearse(ControlRequest request, SideControl control, Place place) throws SQLException {
        Rehearser rehearser = new Rehearser(
                plane.engine().sessions(),
                plane.engine().names(),
                plane.engine().options());
        Admitted admitted = control.carryOut(
                (session, row, earlier) -> {
                    Rehearser.Prepared prepared = prepare(session, request, row, rehearser);
                    control.audit(session, row, earlier.isPresent() ? "replayed" : "applied");
                    if (earlier.isEmpty()) {
                        control.answer(session, row, "rehearsed", null);
                    }
                    return new Admitted(prepared, null);
                },
                refusal -> new Admitted(null, refusal));
        Rehearser.Prepared prepared = admitted.prepared();
        if (prepared == null) {
            return new RehearsalOutcome.Refused(Objects.requireNonNull(admitted.refusal()));
        }
        return new RehearsalOutcome.Rehearsed(rehearser.run(prepared, place));
    }

    private RehearsalOutcome busy(SideControl control, ControlRequest request) throws SQLException {
        plane.engine().control().inTransaction(session -> {
            control.audit(session, plane.rows().read(session, request.id()).orElse(null), Reason.BUSY.wireName());
            return true;
        });
        return new RehearsalOutcome.Refused(new ActionOutcome.Unavailable(
                Reason.BUSY,
                "This process already rehearses this code or as many others as it may, or a thread is still caught in it."
                        + " Nothing was changed; repeat the same request. If it stays so, mend the definition and restart this"
                        + " process."));
    }

    private record Admitted(
            Rehearser.@Nullable Prepared prepared, @Nullable ActionOutcome refusal) {}

    /** The same checks as before a start: what could not be started can't be rehearsed either. */
    private Rehearser.Prepared prepare(Session session, ControlRequest request, Row row, Rehearser rehearser)
            throws SQLException {
        BackfillDefinition<?> definition =
                plane.local().registry().find(request.id().value()).orElse(null);
        boolean readable = definition != null
                && (row.keyCodec() == null
                        || row.keyCodec().equals(definition.key().codec()));
        if (definition == null || !readable) {
            throw new RefusedException(ConflictCode.UNKNOWN_HERE, row, List.of());
        }
        SchemaCheck check = SchemaCheck.of(session, definition);
        TableFacts facts = check.facts();
        if (facts == null || !check.incompatible().isEmpty()) {
            throw new RefusedException(ConflictCode.INCOMPATIBLE_SCHEMA, row, check.incompatible());
        }
        if (!check.unwalkable().isEmpty()) {
            throw new RefusedException(ConflictCode.PREFLIGHT_FAILED, row, check.unwalkable());
        }
        return rehearser.prepare(session, definition, facts, row);
    }
}
