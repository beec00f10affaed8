package dev.backfill.postgres.internal.operator;

import dev.backfill.BackfillDefinition;
import dev.backfill.Finding;
import dev.backfill.Preflight;
import dev.backfill.postgres.internal.engine.EngineContext;
import dev.backfill.postgres.internal.engine.StatementProbe;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.schema.Consequences;
import dev.backfill.postgres.internal.schema.SchemaCheck;
import dev.backfill.postgres.internal.schema.TableFacts;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * What stands in the way of a start, and what it would set off: the same questions for a start and for somebody who only asks.
 * Changes nothing. Thread-safe.
 *
 * @param engine the engine's parts
 */
record PreflightCheck(EngineContext engine) {

    /** Everything, in the session's transaction. */
    Preflight full(Session session, BackfillDefinition<?> definition) throws SQLException {
        SchemaCheck check = SchemaCheck.of(session, definition);
        TableFacts facts = check.facts();
        if (facts == null) {
            return new Preflight(check.all(), List.of(), new Preflight.Estimates(null, null, null, null));
        }
        List<Finding> errors = new ArrayList<>(check.all());
        errors.addAll(statements(session, definition, check));
        return new Preflight(
                errors,
                Consequences.warnings(session, definition, facts),
                Consequences.estimates(session, definition, facts));
    }

    /** What a walkable source may still be refused for: its family and its statements. Empty when the schema already says no. */
    List<Finding> statements(Session session, BackfillDefinition<?> definition, SchemaCheck check) throws SQLException {
        TableFacts facts = check.facts();
        if (facts == null || !check.passed()) {
            return List.of();
        }
        List<Finding> findings = new ArrayList<>(new FamilyRanges(engine).findings(session, definition));
        findings.addAll(new StatementProbe(engine).errors(session, definition, facts));
        return findings;
    }
}
