package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Pacing;
import dev.backfill.TableName;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.HealthSignal;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Pace;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.row.Asked;
import dev.backfill.postgres.internal.row.LedgerSql.Stored;
import dev.backfill.postgres.internal.row.PaceSql;
import dev.backfill.postgres.internal.row.Registry;
import dev.backfill.postgres.internal.row.RowSql.Row;
import java.sql.SQLException;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * An operator's pacing: read, set and taken back. It lies beside the row, so that a change waits for no batch and touches nothing of
 * the lifecycle. Thread-safe.
 */
public final class PaceControls {

    static final String ACTION = "pace";

    private final ControlTransaction transaction;
    private final PaceSql sql;
    private final Registry registry;
    private final Function<TableName, List<HealthSignal>> health;

    /**
     * Over one engine's tables.
     *
     * @param health measures the health signals of a table's database
     */
    public PaceControls(
            ControlTransaction transaction,
            PaceSql sql,
            Registry registry,
            Function<TableName, List<HealthSignal>> health) {
        this.transaction = transaction;
        this.sql = sql;
        this.registry = registry;
        this.health = health;
    }

    Pace read(BackfillId id) throws SQLException {
        try {
            return pace(
                    id,
                    transaction.inTransaction(session ->
                            sql.read(session, transaction.read(session, id).id())));
        } catch (RefusedException e) {
            throw ControlTransaction.unknown(id);
        }
    }

    private Pace pace(BackfillId id, Optional<PaceSql.Stored> stored) {
        BackfillDefinition<?> definition = registry.find(id.value()).orElse(null);
        List<HealthSignal> signals = definition == null ? List.of() : health.apply(definition.table());
        Pacing own = definition == null ? Pacing.unlimited() : definition.pacing();
        return stored.map(s -> new Pace(s.pacing(), true, s.by(), s.at(), signals))
                .orElseGet(() -> new Pace(own, false, null, null, signals));
    }

    Pace.Outcome set(OperatorRequest request, @Nullable Pacing pacing) throws SQLException {
        Kept kept = transaction.run(new Change(Asked.of(ACTION, request, PaceIdentity.of(pacing)), pacing));
        // The signals are measured after the transaction, so that no second connection is asked for while one is held.
        return kept.conflict() == null
                ? new Pace.Outcome.InForce(pace(request.id(), kept.now()), kept.replayed())
                : new Pace.Outcome.Refused(kept.conflict());
    }

    private record Kept(Optional<PaceSql.Stored> now, boolean replayed, ActionOutcome.@Nullable Conflict conflict) {}

    private final class Change implements Control<Kept> {

        private final Asked asked;
        private final @Nullable Pacing pacing;

        Change(Asked asked, @Nullable Pacing pacing) {
            this.asked = asked;
            this.pacing = pacing;
        }

        @Override
        public Asked asked() {
            return asked;
        }

        @Override
        public boolean movesTheRow() {
            return false;
        }

        @Override
        public boolean repeats(Stored earlier) {
            return earlier.sameRequest() && PaceIdentity.isOf(earlier, pacing);
        }

        @Override
        public Kept replay(Session session, Row row, Stored earlier) throws SQLException {
            return new Kept(sql.read(session, row.id()), true, null);
        }

        @Override
        public Decision<Kept> decide(Session session, Row row) throws SQLException {
            Pacing former =
                    sql.read(session, row.id()).map(PaceSql.Stored::pacing).orElse(null);
            boolean changes = !Objects.equals(former, pacing);
            if (changes) {
                sql.write(session, row.id(), pacing, asked.authority().name());
            }
            return Decision.still(
                    row,
                    changes ? AuditRecord.Outcome.APPLIED : AuditRecord.Outcome.CONVERGED,
                    new Kept(sql.read(session, row.id()), false, null));
        }

        @Override
        public Kept refused(ActionOutcome.Conflict conflict) {
            return new Kept(Optional.empty(), false, conflict);
        }
    }
}
