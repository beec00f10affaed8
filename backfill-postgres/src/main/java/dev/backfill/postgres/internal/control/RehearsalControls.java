package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillDefinition;
import dev.backfill.operate.ActionOutcome;
import dev.backfill.operate.ActionOutcome.ConflictCode;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.BackfillUnavailableException;
import dev.backfill.operate.BackfillUnavailableException.Reason;
import dev.backfill.operate.OperatorRequest;
import dev.backfill.operate.Rehearsal;
import dev.backfill.postgres.internal.batch.TableFacts;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.preflight.Rehearser;
import dev.backfill.postgres.internal.preflight.SchemaCheck;
import dev.backfill.postgres.internal.row.Asked;
import dev.backfill.postgres.internal.row.LedgerSql.Stored;
import dev.backfill.postgres.internal.row.Readability;
import dev.backfill.postgres.internal.row.Registry;
import dev.backfill.postgres.internal.row.RowSql.Row;
import dev.backfill.postgres.internal.supervise.Slots;
import dev.backfill.postgres.internal.supervise.Slots.Slot;
import java.sql.SQLException;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/** Rehearsals that operators ask for: audited first, in a transaction of its own, then run and rolled back. Thread-safe. */
public final class RehearsalControls {

    static final String ACTION = "rehearse";

    private final ControlTransaction transaction;
    private final Registry registry;
    private final Rehearser rehearser;
    private final Slots slots;

    /** Over one engine's tables. */
    public RehearsalControls(ControlTransaction transaction, Registry registry, Rehearser rehearser, Slots slots) {
        this.transaction = transaction;
        this.registry = registry;
        this.rehearser = rehearser;
        this.slots = slots;
    }

    Rehearsal.Outcome rehearse(OperatorRequest request) throws SQLException {
        Optional<Slot> free = slots.enterAlone(request.id());
        if (free.isEmpty()) {
            throw busy();
        }
        try (Slot slot = free.get()) {
            Admitted admitted = transaction.run(new Admission(Asked.of(ACTION, request, null)));
            Rehearser.Prepared prepared = admitted.prepared();
            return prepared == null
                    ? new Rehearsal.Outcome.Refused(Objects.requireNonNull(admitted.conflict()))
                    : new Rehearsal.Outcome.Rehearsed(rehearser.run(prepared, slot));
        }
    }

    private static BackfillUnavailableException busy() {
        return new BackfillUnavailableException(
                Reason.BUSY,
                "This process already rehearses this code or as many others as it may, or a thread is still stuck in it."
                        + " Nothing was changed; repeat the same request. If it stays so, mend the definition and restart this"
                        + " process.",
                null);
    }

    private record Admitted(Rehearser.@Nullable Prepared prepared, ActionOutcome.@Nullable Conflict conflict) {}

    private final class Admission implements Control<Admitted> {

        private final Asked asked;

        Admission(Asked asked) {
            this.asked = asked;
        }

        @Override
        public Asked asked() {
            return asked;
        }

        @Override
        public boolean movesTheRow() {
            return false;
        }

        /** A repeat rehearses again. */
        @Override
        public Admitted replay(Session session, Row row, Stored earlier) throws SQLException {
            return prepare(session, row);
        }

        @Override
        public Decision<Admitted> decide(Session session, Row row) throws SQLException {
            Admitted admitted = prepare(session, row);
            return new Decision<>(
                    AuditRecord.Outcome.APPLIED, row.state(), row.position(), "rehearsed", null, admitted);
        }

        private Admitted prepare(Session session, Row row) throws SQLException {
            BackfillDefinition<?> definition = registry.find(row.id().value()).orElse(null);
            if (definition == null
                    || !Readability.judge(row.facts(), definition).yes()) {
                throw RefusedException.because(ConflictCode.UNKNOWN_HERE, row);
            }
            TableFacts facts = LifecycleControls.walkable(row, SchemaCheck.of(session, definition));
            return new Admitted(rehearser.prepare(session, definition, facts, row), null);
        }

        @Override
        public Admitted refused(ActionOutcome.Conflict conflict) {
            return new Admitted(null, conflict);
        }
    }
}
