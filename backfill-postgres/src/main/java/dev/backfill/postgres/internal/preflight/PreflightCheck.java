package dev.backfill.postgres.internal.preflight;

import dev.backfill.BackfillDefinition;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.Preflight;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.postgres.internal.batch.TableFacts;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.migrate.Names;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;

/**
 * What stands in the way of a start, and what it would set off: the same questions for a start and for somebody who only asks.
 * Changes nothing. Thread-safe.
 *
 * @param names the library's tables
 * @param options time limits
 */
public record PreflightCheck(Names names, EngineOptions options) {

    /** Everything, in the session's transaction. */
    public Preflight full(Session session, BackfillDefinition<?> definition) throws SQLException {
        SchemaCheck check = SchemaCheck.of(session, definition);
        TableFacts facts = check.facts();
        if (facts == null) {
            return new Preflight(check.all(), List.of(), new Preflight.Estimates(null, null, null, null));
        }
        List<Finding> errors = new ArrayList<>(check.all());
        errors.addAll(statements(session, definition, check));
        return new Preflight(
                errors,
                PreflightWarnings.warnings(session, definition, facts),
                PreflightWarnings.estimates(session, definition, facts));
    }

    /** What a walkable source may still be refused for: its family and its statements. Empty when the schema already says no. */
    public List<Finding> statements(Session session, BackfillDefinition<?> definition, SchemaCheck check)
            throws SQLException {
        TableFacts facts = check.facts();
        if (facts == null || !check.passed()) {
            return List.of();
        }
        List<Finding> findings = new ArrayList<>(new FamilyRanges(names).findings(session, definition));
        findings.addAll(new StatementProbe(names, options).errors(session, definition, facts));
        return findings;
    }
}
