package dev.backfill.postgres.internal.batch;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.Batch;
import dev.backfill.Repair;
import dev.backfill.RepairTransaction;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.postgres.internal.jdbc.GuardedConnection;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.KeySql;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/** Own code with the transaction; the engine still owns the page. */
public final class CustomWindow<K> implements WindowRepair {

    /** No window of a hundred thousand keys changes more than that; a larger count would only spoil the sum. */
    private static final long MOST_CHANGED = 1_000_000_000_000L;

    private final BackfillDefinition<K> definition;
    private final Repair.Custom<K> repair;
    private final PageSql.Forms keys;
    private final Duration idle;

    CustomWindow(KeySql key, BackfillDefinition<K> definition, Repair.Custom<K> repair, Duration idle) {
        this.idle = idle;
        this.definition = definition;
        this.repair = repair;
        this.keys = new PageSql(key).keys();
    }

    @Override
    public PageSql.Forms first() {
        return keys;
    }

    @Override
    public Window run(Session session, Claim claim, WindowSize size, PreparedStatement first) throws Exception {
        List<List<String>> page = page(first);
        if (page.isEmpty()) {
            return Window.END_OF_SOURCE;
        }
        GuardedConnection guarded = new GuardedConnection(session.connection());
        long changed;
        try {
            changed = repair.repair(
                    new KeyBatch<>(definition, page), new GuardedTransaction(guarded.proxy(), claim.generation()));
        } catch (Exception e) {
            throw IdleTime.explain(e, guarded.longestQuiet(), idle);
        } finally {
            guarded.end();
            BreachException.throwIfRefused(guarded);
        }
        IdleTime.throwIfOver(guarded.longestQuiet(), idle);
        BreachException.throwIfSwallowed(guarded, session);
        if (changed < 0 || changed > MOST_CHANGED) {
            throw new BreachException(
                    DiagnosticCode.CHANGED_COUNT_INVALID, "The repair reported " + changed + " changed rows.", null);
        }
        return new Window(page.get(page.size() - 1), page.size(), changed);
    }

    private static List<List<String>> page(PreparedStatement first) throws SQLException {
        List<List<String>> page = new ArrayList<>();
        try (ResultSet row = first.getResultSet()) {
            while (row.next()) {
                page.add(Objects.requireNonNull(Values.texts(row, "key")));
            }
        }
        return page;
    }

    private record GuardedTransaction(Connection connection, long generation) implements RepairTransaction {}

    private static final class KeyBatch<K> implements Batch<K> {

        private final BackfillDefinition<K> definition;
        private final List<List<String>> page;
        private @Nullable List<K> decoded;

        KeyBatch(BackfillDefinition<K> definition, List<List<String>> page) {
            this.definition = definition;
            this.page = page;
        }

        @Override
        public BackfillId id() {
            return definition.id();
        }

        @Override
        public List<K> keys() {
            List<K> keys = decoded;
            if (keys == null) {
                // Once: code may ask for each of its rows.
                keys = page.stream().map(definition.key()::decode).toList();
                decoded = keys;
            }
            return keys;
        }

        @Override
        public int size() {
            return page.size();
        }
    }
}
