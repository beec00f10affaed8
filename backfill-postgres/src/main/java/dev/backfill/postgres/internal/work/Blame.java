package dev.backfill.postgres.internal.work;

import dev.backfill.KeyType;
import dev.backfill.operate.Diagnostic;
import dev.backfill.operate.DiagnosticCode;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.postgres.internal.batch.FailurePolicy;
import dev.backfill.postgres.internal.batch.FailurePolicy.Decision;
import dev.backfill.postgres.internal.batch.FailurePolicy.Failure;
import dev.backfill.postgres.internal.batch.FailurePolicy.Kind;
import dev.backfill.postgres.internal.batch.HeldClaim;
import dev.backfill.postgres.internal.jdbc.Diagnostics;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Whose fault an error is that a smaller window may get rid of (RB-4): the schema's, if the catalog or a stored key has changed; one
 * row's, if a single key is left that fails while others don't; the definition's, if others fail too. Thread-safe.
 *
 * @param policy decides about errors that are no row's
 * @param secondLook looks whether the schema has changed
 * @param others the keys behind the one that fails
 */
public record Blame(FailurePolicy policy, SecondLook secondLook, OtherKeys others) {

    /** What is to be done about a failure for which the policy asks for a smaller window. */
    Decision of(HeldClaim held, Failure failure, Decision narrow) {
        try {
            Optional<Finding> finding = secondLook.of(held, failure.thrown());
            if (finding.isPresent()) {
                return schema(finding.get(), SqlFailure.in(failure.thrown()));
            }
            return failure.window() > 1 ? narrow : ofOneKey(held, failure.thrown());
        } catch (SQLException e) {
            // Nothing could be found out; what stood in the way of that is what there is to tell.
            return policy.ofDefinition(e, held.claim());
        }
    }

    /** The same decision about a statement that was too slow, with what of its plan costs most. */
    Decision withPlan(HeldClaim held, Decision decision) {
        Diagnostic why = decision.diagnostic();
        if (!why.code().equals(DiagnosticCode.STATEMENT_TOO_SLOW.wireName())) {
            return decision;
        }
        Diagnostic named =
                new Diagnostic(why.code(), why.message() + secondLook.dearest(held), why.sqlState(), why.at());
        return new Decision(decision.kind(), named, decision.tooSlow());
    }

    private static Decision schema(Finding finding, @Nullable SQLException sql) {
        String state = sql == null ? null : sql.getSQLState();
        Diagnostic why = Diagnostic.of(DiagnosticCode.INCOMPATIBLE_SCHEMA, finding.message(), state);
        return new Decision(Kind.BLOCK, why, false);
    }

    private Decision ofOneKey(HeldClaim held, Throwable thrown) throws SQLException {
        List<List<String>> keys = others.from(held);
        boolean ofRow = keys.size() > 1 ? others.anyPasses(held, keys) : keys.size() == 1 && !isOfSchema(thrown);
        if (!ofRow) {
            return policy.ofDefinition(thrown, held.claim());
        }
        Diagnostic why = Diagnostics.of(DiagnosticCode.DATA_ERROR, thrown);
        String message = "Key (" + asCondition(held, keys.get(0)) + "). " + why.message();
        return new Decision(Kind.BLOCK, Diagnostic.of(DiagnosticCode.DATA_ERROR, message, why.sqlState()), false);
    }

    /** Where there is no other key to compare with, the class of the error is all that there is. */
    private static boolean isOfSchema(Throwable thrown) {
        SQLException sql = SqlFailure.in(thrown);
        return sql != null && SqlFailure.of(sql) == SqlFailure.SCHEMA;
    }

    /** A condition that finds the row. */
    private static String asCondition(HeldClaim held, List<String> key) {
        List<KeyType.Column> columns = held.prepared().definition().key().columns();
        return IntStream.range(0, columns.size())
                .mapToObj(i -> columns.get(i).name() + " = " + literal(key.get(i)))
                .collect(Collectors.joining(" and "));
    }

    private static String literal(String text) {
        return text.matches("-?[0-9]+") ? text : "'" + text.replace("'", "''") + "'";
    }
}
