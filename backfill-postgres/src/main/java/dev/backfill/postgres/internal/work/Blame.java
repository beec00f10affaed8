package dev.backfill.postgres.internal.work;

import dev.backfill.CustomRepair;
import dev.backfill.KeyColumn;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.BackfillState;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.operate.Finding;
import dev.backfill.postgres.internal.batch.Diagnostics;
import dev.backfill.postgres.internal.batch.PageSql;
import dev.backfill.postgres.internal.batch.WindowRepair.Window;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.row.Claim;
import dev.backfill.postgres.internal.row.Values;
import dev.backfill.postgres.internal.supervise.Watchdog;
import dev.backfill.postgres.internal.work.FailurePolicy.Decision;
import dev.backfill.postgres.internal.work.FailurePolicy.Failure;
import dev.backfill.postgres.internal.work.FailurePolicy.Kind;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeSet;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Whose fault an error is that a smaller window may get rid of (RB-4): the schema's, if the catalog or a stored key has changed; one
 * row's, if a single key is left that fails while others don't; the definition's, if others fail too. The others are tried in
 * transactions that are rolled back. Thread-safe.
 */
final class Blame {

    private static final int ELSEWHERE = 100;

    private final EngineContext engine;
    private final EngineOptions options;
    private final FailurePolicy policy;
    private final Watchdog watchdog;
    private final SecondLook secondLook;

    Blame(EngineContext engine, FailurePolicy policy, Watchdog watchdog) {
        this.engine = engine;
        this.options = engine.options();
        this.policy = policy;
        this.watchdog = watchdog;
        this.secondLook = new SecondLook(engine);
    }

    /** What is to be done about a failure for which the policy asks for a smaller window. */
    Decision of(HeldClaim held, Failure failure, Decision narrow) {
        try {
            Optional<Finding> finding = secondLook.of(held, failure.thrown());
            if (finding.isPresent()) {
                SQLException sql = SqlFailure.in(failure.thrown());
                String message = finding.get().message();
                Diagnostic why = Diagnostic.of(
                        DiagnosticCode.INCOMPATIBLE_SCHEMA, message, sql == null ? null : sql.getSQLState());
                return new Decision(Kind.BLOCK, why, false);
            }
            return failure.window() > 1 ? narrow : ofOneKey(held, failure.thrown());
        } catch (SQLException e) {
            // Nothing could be found out; what stood in the way of that is what there is to tell.
            return policy.ofDefinition(e, held.claim());
        }
    }

    private Decision ofOneKey(HeldClaim held, Throwable thrown) throws SQLException {
        List<List<String>> keys = engine.control().inTransaction(session -> keys(session, held));
        if (keys.isEmpty() || !isOfRow(held, keys, thrown)) {
            return policy.ofDefinition(thrown, held.claim());
        }
        Diagnostic why = Diagnostics.of(DiagnosticCode.DATA_ERROR, thrown);
        String message = "Key (" + named(held, keys.get(0)) + "). " + why.message();
        return new Decision(Kind.BLOCK, Diagnostic.of(DiagnosticCode.DATA_ERROR, message, why.sqlState()), false);
    }

    /** Whether others get by without the error. Where there are none, the class of the error is all that there is. */
    private boolean isOfRow(HeldClaim held, List<List<String>> keys, Throwable thrown) throws SQLException {
        if (keys.size() == 1) {
            SQLException sql = SqlFailure.in(thrown);
            return sql == null || SqlFailure.of(sql) != SqlFailure.SCHEMA;
        }
        if (passes(held, keys.get(0), held.prepared().definition().batchSize()) != null) {
            return true;
        }
        // Near, far and between: neighbours are often bad for the same reason.
        for (int before : new TreeSet<>(List.of(0, (keys.size() - 2) / 2, keys.size() - 2))) {
            Window window = passes(held, keys.get(before), 1);
            if (window != null && (window.changed() > 0 || isOwnCode(held))) {
                return true;
            }
        }
        return false;
    }

    private static boolean isOwnCode(HeldClaim held) {
        return held.prepared().definition().repair() instanceof CustomRepair<?>;
    }

    /** Repairs a window after a key and rolls it back; null if that fails for a reason that may lie in its rows. */
    @SuppressWarnings(
            "checkstyle:IllegalCatch") // An Error of a definition is the definition's failure, whatever its class.
    private @Nullable Window passes(HeldClaim held, List<String> after, int limit) throws SQLException {
        Claim claim = held.claim();
        engine.control().inTransaction(s -> engine.sql().claims().renew(s, claim, options.lease(), null, null));
        // Closing a session rolls back whatever it has open: there is no way to a commit from here.
        try (Session session = engine.sessions().open(options.workerSocketTimeout());
                Watchdog.Watch watch = watchdog.over(claim, options.transactionTimeout())) {
            try {
                return repaired(session, held, claim.advanced(BackfillState.RUNNING, after), limit);
            } catch (SQLException e) {
                session.failed(e);
                if (!SqlFailure.of(e).mayBeOfRows()) {
                    throw e;
                }
                return null;
            } catch (Exception | Error e) {
                session.spoil();
                return null;
            }
        }
    }

    private static Window repaired(Session session, HeldClaim held, Claim from, int limit) throws Exception {
        if (!held.prepared().begin().alone(session, held.claim()).open()) {
            throw new SQLException("the claim is not this worker's any more", "40001");
        }
        try (PreparedStatement first = held.prepared().begin().window(session, from, limit);
                Statement constraints = session.connection().createStatement()) {
            Window window = held.prepared().repair().run(session, from, limit, first);
            // What a COMMIT would check must be checked here, where there is none.
            constraints.execute("/* backfill:repair */ SET CONSTRAINTS ALL IMMEDIATE");
            return window;
        }
    }

    /** The key that failed and some that come after it. */
    private static List<List<String>> keys(Session session, HeldClaim held) throws SQLException {
        List<List<String>> keys = new ArrayList<>();
        PageSql.Forms page = new PageSql(held.prepared().key()).keys();
        try (PreparedStatement statement = page.of(held.claim())
                        .prepare(session.connection(), PageSql.params(held.claim(), 1 + ELSEWHERE));
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                keys.add(Objects.requireNonNull(Values.texts(row, "key")));
            }
        }
        return keys;
    }

    /** As a condition, which finds the row. */
    private static String named(HeldClaim held, List<String> key) {
        List<KeyColumn> columns = held.prepared().definition().key().columns();
        return IntStream.range(0, columns.size())
                .mapToObj(i -> columns.get(i).name() + " = " + literal(key.get(i)))
                .collect(Collectors.joining(" and "));
    }

    private static String literal(String text) {
        return text.matches("-?[0-9]+") ? text : "'" + text.replace("'", "''") + "'";
    }
}
