package dev.backfill.postgres.internal.work;

import dev.backfill.BackfillDefinition;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.batch.TableFacts;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.jdbc.Transactions;
import dev.backfill.postgres.internal.jdbc.Values;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.preflight.SchemaCheck;
import dev.backfill.postgres.internal.preflight.StatementProbe;
import dev.backfill.postgres.internal.row.KeySql;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * Looks again, when a batch has failed, at what the catalog said when its claim was taken: somebody may have changed a table since
 * (CF-8, SR-9). Thread-safe.
 */
public final class SecondLook {

    private final Transactions transactions;
    private final StatementProbe statements;

    /** For one engine. */
    public SecondLook(Transactions transactions, Names names, EngineOptions options) {
        this.transactions = transactions;
        this.statements = new StatementProbe(names, options);
    }

    /** What the catalog says now that explains the failure; empty when it can't be that. */
    Optional<Finding> of(HeldClaim held, Throwable thrown) throws SQLException {
        Finding unreadable = unreadable(held, "checkpoint", held.claim().after());
        if (unreadable == null) {
            unreadable = unreadable(held, "upper bound", held.claim().bound());
        }
        if (unreadable != null) {
            return Optional.of(unreadable);
        }
        return transactions.inTransaction(session -> changed(session, held, thrown));
    }

    /** What of its plan costs a window most, in words; empty when nothing can be said. */
    String dearest(HeldClaim held) {
        BackfillDefinition<?> definition = held.prepared().definition();
        try {
            return transactions.inTransaction(session -> {
                TableFacts facts = SchemaCheck.of(session, definition).facts();
                return facts == null
                        ? ""
                        : statements
                                .dearestScan(session, definition, facts)
                                .map(scan -> " Its plan's dearest part: " + scan + ".")
                                .orElse("");
            });
        } catch (SQLException e) {
            return "";
        }
    }

    private Optional<Finding> changed(Session session, HeldClaim held, Throwable thrown) throws SQLException {
        BackfillDefinition<?> definition = held.prepared().definition();
        SchemaCheck check = SchemaCheck.of(session, definition);
        TableFacts facts = check.facts();
        if (facts == null || !check.passed()) {
            return Optional.of(check.all().get(0));
        }
        SQLException sql = SqlFailure.in(thrown);
        if (sql == null || !SqlFailure.isOfStatement(sql)) {
            return Optional.empty();
        }
        // It was planned before the start, which is refused where PostgreSQL does not take it.
        return statements.errors(session, definition, facts).stream()
                .filter(finding -> finding.code() == Finding.Code.STATEMENT_INVALID)
                .findFirst();
    }

    /** A stored key that its own type refuses: a label was renamed, or the type was made anew (SR-9). */
    private @Nullable Finding unreadable(HeldClaim held, String which, @Nullable List<String> stored)
            throws SQLException {
        if (stored == null) {
            return null;
        }
        KeySql key = held.prepared().key();
        Sql read = Sql.of("/* backfill:catalog */ SELECT " + key.ofArray(":stored::text[]"));
        try {
            transactions.inTransaction(session -> {
                try (PreparedStatement statement =
                        read.prepare(session.connection(), Params.of("stored", Values.array(stored)))) {
                    statement.executeQuery().close();
                    return true;
                }
            });
            return null;
        } catch (SQLException e) {
            if (!SqlFailure.of(e).mayBeOfRows()) {
                throw e;
            }
            String table = held.prepared().definition().table().toString();
            return new Finding(
                    Finding.Code.STORED_KEY_UNREADABLE,
                    table,
                    "The stored " + which + " (" + String.join(", ", stored) + ") of the key "
                            + held.prepared().definition().key() + " of table " + table
                            + " can't be read as that any more. Undo the change of its type, or repair the rest under a new ID.");
        }
    }
}
