package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Pacing;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.ConflictCode;
import dev.backfill.operate.ControlRequest;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.HealthSignal;
import dev.backfill.operate.Pace;
import dev.backfill.operate.PaceOutcome;
import dev.backfill.operate.UnknownBackfillException;
import dev.backfill.postgres.internal.control.LifecycleControls.RefusedException;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.preflight.HealthCheck;
import dev.backfill.postgres.internal.row.LedgerSql.Stored;
import dev.backfill.postgres.internal.row.PaceSql;
import dev.backfill.postgres.internal.row.RowSql.Row;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * An operator's pacing: read, set and taken back. It lies beside the row, so that a change waits for no batch and touches nothing of
 * the lifecycle. Thread-safe.
 *
 * @param plane what the handlers share
 */
public record PaceControls(PlaneContext plane) {

    static final String ACTION = "pace";

    Pace read(BackfillId id) throws SQLException {
        PaceSql sql = new PaceSql(plane.engine().names());
        Optional<PaceSql.Stored> stored = plane.engine().control().inTransaction(session -> {
            if (plane.rows().read(session, id).isEmpty()) {
                throw new UnknownBackfillException("No backfill " + id + " is registered. Check the ID.");
            }
            return sql.read(session, id);
        });
        return pace(id, stored);
    }

    private Pace pace(BackfillId id, Optional<PaceSql.Stored> stored) {
        BackfillDefinition<?> definition =
                plane.local().registry().find(id.value()).orElse(null);
        List<HealthSignal> signals = definition == null
                ? List.of()
                : new HealthCheck(
                                plane.engine().control(),
                                plane.engine().meter(),
                                plane.engine().options().health())
                        .measure(definition.table());
        Pacing own = definition == null ? Pacing.unlimited() : definition.pacing();
        return stored.map(s -> new Pace(s.pacing(), true, s.by(), s.at(), signals))
                .orElseGet(() -> new Pace(own, false, null, null, signals));
    }

    PaceOutcome set(ControlRequest request, @Nullable Pacing pacing) throws SQLException {
        SideControl control = new SideControl(plane, request, ACTION);
        Kept kept = control.carryOut(
                (session, row, earlier) -> {
                    boolean replayed = earlier.isPresent();
                    if (replayed) {
                        replay(session, control, row, earlier.get(), pacing);
                    } else {
                        store(session, control, row, pacing);
                    }
                    return new Kept(new PaceSql(plane.engine().names()).read(session, request.id()), replayed, null);
                },
                refusal -> new Kept(Optional.empty(), false, refusal));
        ActionOutcome refusal = kept.refusal();
        // The signals are measured after the transaction, so that no second connection is asked for while one is held.
        return refusal == null
                ? new PaceOutcome.InForce(pace(request.id(), kept.now()), kept.replayed())
                : new PaceOutcome.Refused(refusal);
    }

    private record Kept(
            Optional<PaceSql.Stored> now,
            boolean replayed,
            @Nullable ActionOutcome refusal) {}

    private void store(Session session, SideControl control, Row row, @Nullable Pacing pacing) throws SQLException {
        PaceSql sql = new PaceSql(plane.engine().names());
        ControlRequest request = control.request();
        Pacing former =
                sql.read(session, request.id()).map(PaceSql.Stored::pacing).orElse(null);
        String result = Objects.equals(former, pacing) ? "converged" : "applied";
        if (!Objects.equals(former, pacing)) {
            sql.write(session, request.id(), pacing, request.authority().name());
        }
        control.audit(session, row, result);
        control.answer(session, row, result, new Diagnostic(ACTION, text(pacing), null, null));
    }

    /** The same request ID with another pace is another request (IK-3). */
    private void replay(Session session, SideControl control, Row row, Stored earlier, @Nullable Pacing pacing)
            throws SQLException {
        Diagnostic asked = earlier.diagnostic();
        if (asked == null || !asked.message().equals(text(pacing))) {
            throw new RefusedException(ConflictCode.REQUEST_ID_REUSED, row, List.of());
        }
        control.audit(session, row, "replayed");
    }

    private static String text(@Nullable Pacing pacing) {
        return pacing == null ? "the definition's own" : pacing.toString();
    }
}
