package dev.backfill.postgres.internal.work;

import dev.backfill.postgres.internal.batch.BatchRunner;
import dev.backfill.postgres.internal.batch.FenceSql.Work;
import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.batch.PageSql;
import dev.backfill.postgres.internal.batch.WindowSize;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.jdbc.Values;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;

/**
 * The keys behind one that fails: whether they can be repaired says whether the error is that key's alone. They are tried in
 * transactions that are rolled back, five at most. Thread-safe.
 *
 * @param transactions short ones
 * @param batches tries a window
 * @param keeper keeps the claim meanwhile
 */
public record OtherKeys(Transactions transactions, BatchRunner batches, ClaimKeeper keeper) {

    private static final int MOST = 100;

    /** The next key of the claim and some that come after it; empty when there is none. */
    List<List<String>> from(HeldClaim held) throws SQLException {
        return transactions.inTransaction(session -> read(session, held));
    }

    private static List<List<String>> read(Session session, HeldClaim held) throws SQLException {
        List<List<String>> keys = new ArrayList<>();
        PageSql.Forms page = new PageSql(held.prepared().key()).keys();
        try (PreparedStatement statement = page.of(held.claim())
                        .prepare(session.connection(), PageSql.params(held.claim(), WindowSize.of(1 + MOST)));
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                keys.add(Objects.requireNonNull(Values.texts(row, "key")));
            }
        }
        return keys;
    }

    /**
     * Whether some of them can be repaired.
     *
     * @param keys the one that fails, and at least one more
     */
    boolean anyPasses(HeldClaim held, List<List<String>> keys) throws SQLException {
        if (passes(held, keys.get(0), held.prepared().definition().batchSize()).isPresent()) {
            return true;
        }
        // Near, far and between: neighbours are often bad for the same reason. A row that needs nothing proves nothing.
        int last = keys.size() - 2;
        for (int before : new TreeSet<>(List.of(0, last / 2, last))) {
            Optional<Work> work = passes(held, keys.get(before), 1);
            if (work.isPresent() && (work.get().changed() > 0 || isOwnCode(held))) {
                return true;
            }
        }
        return false;
    }

    private Optional<Work> passes(HeldClaim held, List<String> after, int limit) throws SQLException {
        // Each may take as long as a batch, and only a batch that commits renews the lease.
        keeper.renew(held.claim(), null, null);
        return batches.tryOut(held, after, limit);
    }

    private static boolean isOwnCode(HeldClaim held) {
        return held.prepared()
                .definition()
                .repair()
                .match(update -> false, rows -> false, statement -> false, delete -> false, custom -> true);
    }
}
