package dev.backfill.postgres.internal.preflight;

import dev.backfill.BackfillDefinition;
import dev.backfill.DeleteRepair;
import dev.backfill.RowRepair;
import dev.backfill.UpdateRepair;
import dev.backfill.Validation;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.SqlText;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Conditions that can hold for no row, {@code topic_id = NULL} for instance: a repair that changes nothing and a validation that
 * always succeeds, which together complete with every row wrong (VA-4). PostgreSQL's planner folds them to a constant. Stateless.
 */
final class NeverMatches {

    private NeverMatches() {}

    static List<Finding> findings(Session session, BackfillDefinition<?> definition) throws SQLException {
        Map<String, String> conditions = new LinkedHashMap<>();
        repair(definition).ifPresent(condition -> conditions.put(condition, "repair"));
        for (Validation validation : definition.validations()) {
            condition(validation).ifPresent(condition -> conditions.put(condition, "validation"));
        }
        List<Finding> findings = new ArrayList<>();
        for (Map.Entry<String, String> condition : conditions.entrySet()) {
            if (isNever(session, definition, condition.getKey())) {
                findings.add(finding(definition, condition.getValue()));
            }
        }
        return findings;
    }

    /** The SQL condition of a proof that has one. */
    static Optional<String> condition(Validation validation) {
        return validation.match(proof -> Optional.of(proof.condition()), custom -> Optional.empty());
    }

    private static Optional<String> repair(BackfillDefinition<?> definition) {
        return definition
                .repair()
                .match(
                        UpdateRepair::condition,
                        RowRepair::condition,
                        statement -> Optional.empty(),
                        DeleteRepair::condition,
                        custom -> Optional.empty());
    }

    private static boolean isNever(Session session, BackfillDefinition<?> definition, String condition)
            throws SQLException {
        if (condition.strip().equalsIgnoreCase("false")) {
            return false; // the author's own word
        }
        // On the nullable side of a join: a column that is NOT NULL already makes "IS NULL" a constant, too, and there
        // it
        // means that nothing is left to do, on a fresh database for instance.
        Sql probe = Sql.of(
                "SELECT 1 FROM (SELECT 1) AS backfill_one_ LEFT JOIN {source} ON true WHERE ({condition}\n)",
                Map.of("source", definition.table().quoted(), "condition", SqlText.escapeOperators(condition)));
        // One that names other tables of the repair can't be planned alone, and is none of these.
        return StatementProbe.plan(session, probe, Params.none())
                .plan()
                .path("One-Time Filter")
                .asText()
                .equals("false");
    }

    private static Finding finding(BackfillDefinition<?> definition, String part) {
        return new Finding(
                Finding.Code.NEVER_MATCHES,
                definition.id() + " " + part,
                "The condition of the " + part + " of backfill " + definition.id()
                        + " can hold for no row; a comparison with NULL, for instance, is never true. Write IS NULL, or correct it.");
    }
}
