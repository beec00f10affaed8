package dev.backfill.postgres.internal.control;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.operate.AuditRecord;
import dev.backfill.operate.BackfillSnapshot;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Evidence;
import dev.backfill.operate.Overview;
import dev.backfill.operate.Preflight;
import dev.backfill.operate.UnknownBackfillException;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.preflight.PreflightCheck;
import dev.backfill.postgres.internal.row.AuditReadSql;
import dev.backfill.postgres.internal.row.Registry;
import dev.backfill.postgres.internal.row.RowSql;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Honest reads, each from one query at that moment (RM). Thread-safe. */
public final class ReadModel {

    private final Transactions transactions;
    private final Snapshots snapshots;
    private final Registry registry;
    private final RowSql rows;
    private final AuditReadSql audit;
    private final PreflightCheck preflight;

    /** Over one engine's tables. */
    public ReadModel(
            Transactions transactions,
            Snapshots snapshots,
            Registry registry,
            RowSql rows,
            AuditReadSql audit,
            PreflightCheck preflight) {
        this.transactions = transactions;
        this.snapshots = snapshots;
        this.registry = registry;
        this.rows = rows;
        this.audit = audit;
        this.preflight = preflight;
    }

    Overview list() throws SQLException {
        return transactions.inTransaction(session -> {
            Snapshots.All all = snapshots.all(session);
            return new Overview(
                    asOf(session), List.copyOf(registry.required()), closedBy(all), all.readable(), all.unreadable());
        });
    }

    private static Instant asOf(Session session) throws SQLException {
        try (var statement = session.connection().createStatement();
                ResultSet row = statement.executeQuery("/* backfill:clock */ SELECT pg_catalog.now()")) {
            row.next();
            return row.getObject(1, java.time.OffsetDateTime.class).toInstant();
        }
    }

    private List<Overview.Closing> closedBy(Snapshots.All all) {
        Map<BackfillId, BackfillSnapshot> byId = new HashMap<>();
        all.readable().forEach(s -> byId.put(s.id(), s));
        Set<BackfillId> unreadable =
                all.unreadable().stream().map(Overview.Unreadable::id).collect(Collectors.toSet());
        List<Overview.Closing> closing = new ArrayList<>();
        for (BackfillId id : registry.required()) {
            BackfillSnapshot found = byId.get(id);
            BackfillState state = found == null ? BackfillState.PENDING : found.state();
            // What was completed over another range, by another key or in a newer format has not done what is required
            // here.
            boolean known = found == null ? !unreadable.contains(id) : found.knownHere();
            if (state != BackfillState.COMPLETED || !known) {
                closing.add(new Overview.Closing(id, state, known, found == null ? null : found.diagnostic()));
            }
        }
        return closing;
    }

    BackfillSnapshot show(BackfillId id) throws SQLException {
        return transactions.inTransaction(session -> snapshots.one(session, id).orElseThrow(() -> unknown(id)));
    }

    AuditRecord.Page page(@Nullable BackfillId id, int limit, @Nullable Long before) throws SQLException {
        return transactions.inTransaction(session -> {
            if (id != null && rows.read(session, id).isEmpty()) {
                throw unknown(id);
            }
            return audit.page(session, id, limit, before);
        });
    }

    Preflight preflight(BackfillId id) throws SQLException {
        BackfillDefinition<?> definition = registry.find(id.value()).orElse(null);
        return transactions.inTransaction(session -> {
            if (rows.read(session, id).isEmpty() || definition == null) {
                throw unknown(id);
            }
            return preflight.full(session, Objects.requireNonNull(definition));
        });
    }

    Evidence evidence(BackfillId id) throws SQLException {
        return transactions.inTransaction(
                session -> snapshots.evidence(session, id).orElseThrow(() -> unknown(id)));
    }

    private static UnknownBackfillException unknown(BackfillId id) {
        return new UnknownBackfillException(
                "No backfill " + id + " is registered, or this process has no definition of it."
                        + " Check the ID; a host that defines it must have started once.");
    }
}
