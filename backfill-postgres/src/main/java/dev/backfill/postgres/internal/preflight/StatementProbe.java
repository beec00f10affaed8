package dev.backfill.postgres.internal.preflight;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.MissingNode;
import dev.backfill.BackfillDefinition;
import dev.backfill.Validation;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.postgres.internal.batch.PageSql;
import dev.backfill.postgres.internal.batch.PreparedDefinition;
import dev.backfill.postgres.internal.batch.TableFacts;
import dev.backfill.postgres.internal.batch.WindowSize;
import dev.backfill.postgres.internal.batch.WriteBackSql;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import dev.backfill.postgres.internal.jdbc.SqlFailure;
import dev.backfill.postgres.internal.jdbc.SqlText;
import dev.backfill.postgres.internal.migrate.Names;
import dev.backfill.postgres.internal.row.EndsSql;
import dev.backfill.postgres.internal.row.KeySql;
import dev.backfill.postgres.internal.validate.ValidationSql;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Plans the statements that a definition will really send, without running them: whether PostgreSQL takes the author's SQL, and
 * whether it walks the source through an index. Works behind a savepoint in the session's transaction. Thread-safe.
 *
 * @param names the library's tables
 * @param options time limits
 */
public record StatementProbe(Names names, EngineOptions options) {

    // Below this a whole read of the table costs less than a walk through its index, and the planner is right to prefer
    // it.
    private static final long BIG_TABLE = 50_000;
    private static final int BIG_IN_BATCHES = 20;
    private static final int MOST_LINES = 40;
    // In the planner's unit, which is about the time of a page read in order: some seconds.
    private static final double MOST_COST = 500_000;
    // Each partition by itself: an empty one is read whole, and rightly.
    private static final Sql BIG_TABLES = Sql.of("""
            /* backfill:catalog */ SELECT c.relname FROM pg_catalog.pg_class AS c WHERE c.reltuples >= :least AND c.relkind = 'r'
              AND (c.oid = :oid::oid OR c.oid IN (SELECT t.relid FROM pg_catalog.pg_partition_tree(:oid::oid) AS t))""");
    private static final ObjectMapper JSON = new ObjectMapper();

    /** What refuses the start. */
    public List<Finding> errors(Session session, BackfillDefinition<?> definition, TableFacts facts)
            throws SQLException {
        List<Finding> findings = new ArrayList<>();
        PreparedDefinition prepared = PreparedDefinition.of(names, options, definition, facts);
        EndsSql ends = new EndsSql(prepared.key());
        List<String> greatest = ends.greatest(session);
        Params params = PageSql.params(ends.least(session), greatest, WindowSize.of(definition.batchSize()));
        Set<String> big = bigTables(session, definition, facts);
        boolean readsAll = false;
        for (Sql sql : prepared.repair().planned().both()) {
            Planned planned = plan(session, sql, params);
            if (planned.refused() != null) {
                findings.add(refused(definition, "repair", planned.refused()));
                return findings;
            }
            readsAll |= readsAny(planned.plan(), big);
            lookup(definition, facts, planned.plan(), findings);
        }
        WriteBackSql writeBack = prepared.repair().writeBack().orElse(null);
        if (writeBack != null) {
            SQLException refused = plan(session, writeBack.planned(), writeBack.ofOneRow(greatest))
                    .refused();
            if (refused != null) {
                findings.add(refused(definition, "repair", refused));
                return findings;
            }
        }
        if (readsAll) {
            findings.add(new Finding(
                    Finding.Code.PLAN_READS_TABLE,
                    definition.table().toString(),
                    "PostgreSQL plans to read table " + definition.table() + " from end to end for each window of "
                            + definition.batchSize()
                            + " keys. ANALYZE it, take subqueries over it out of the repair, and see"
                            + " that an index on " + definition.key() + " is valid."));
        }
        findings.addAll(validations(session, definition, prepared.key(), params));
        findings.addAll(NeverMatches.findings(session, definition));
        return findings;
    }

    private static int window(BackfillDefinition<?> definition, TableFacts facts) {
        Long rows = facts.estimatedRows();
        return (int) Math.max(1, rows == null ? definition.batchSize() : Math.min(rows, definition.batchSize()));
    }

    /** Another table that is read whole for each row of a window, which no time limit bears. */
    private static void lookup(
            BackfillDefinition<?> definition, TableFacts facts, JsonNode plan, List<Finding> findings) {
        for (PlanCost.Scan scan : PlanCost.scans(plan, window(definition, facts))) {
            boolean known = findings.stream().anyMatch(f -> f.subject().equals(scan.relation()));
            if (scan.kind().equals("Seq Scan") && scan.executions() > 1 && scan.cost() > MOST_COST && !known) {
                findings.add(new Finding(
                        Finding.Code.LOOKUP_READS_TABLE,
                        scan.relation(),
                        "PostgreSQL plans to read table " + scan.relation() + " from end to end for each of some "
                                + Math.round(scan.executions()) + " rows of a window. Create an index for the lookup,"
                                + " concurrently, and ANALYZE the table."));
            }
        }
    }

    /** The scan that costs a window most, in the planner's eyes; empty when it has none. */
    public Optional<String> dearestScan(Session session, BackfillDefinition<?> definition, TableFacts facts)
            throws SQLException {
        PreparedDefinition prepared = PreparedDefinition.of(names, options, definition, facts);
        EndsSql ends = new EndsSql(prepared.key());
        Params params =
                PageSql.params(ends.least(session), ends.greatest(session), WindowSize.of(definition.batchSize()));
        JsonNode plan =
                plan(session, prepared.repair().planned().later(), params).plan();
        return PlanCost.dearest(plan, window(definition, facts)).map(PlanCost.Scan::toString);
    }

    private static List<Finding> validations(
            Session session, BackfillDefinition<?> definition, KeySql key, Params params) throws SQLException {
        List<Finding> findings = new ArrayList<>();
        for (Validation validation : definition.validations()) {
            String condition = NeverMatches.condition(validation).orElse(null);
            if (condition != null) {
                Sql sql = ValidationSql.matching(
                        key, definition.part().isPresent(), SqlText.escapeOperators(condition) + "\n");
                Planned planned = plan(session, sql, params);
                if (planned.refused() != null) {
                    findings.add(refused(definition, "validation", planned.refused()));
                }
            }
        }
        return findings;
    }

    /** How PostgreSQL would walk a window, one line per scan; empty when it refuses the statement. */
    public List<String> summary(Session session, BackfillDefinition<?> definition, TableFacts facts)
            throws SQLException {
        PreparedDefinition prepared = PreparedDefinition.of(names, options, definition, facts);
        EndsSql ends = new EndsSql(prepared.key());
        Params params =
                PageSql.params(ends.least(session), ends.greatest(session), WindowSize.of(definition.batchSize()));
        List<String> lines = new ArrayList<>();
        scans(plan(session, prepared.repair().planned().later(), params).plan(), lines);
        return lines;
    }

    private static void scans(JsonNode node, List<String> lines) {
        String relation = node.path("Relation Name").asText();
        String index = node.path("Index Name").asText();
        String kind = node.path("Node Type").asText();
        if ((!relation.isEmpty() || !index.isEmpty()) && !kind.equals("ModifyTable") && lines.size() < MOST_LINES) {
            lines.add(
                    kind + (index.isEmpty() ? "" : " using " + index) + (relation.isEmpty() ? "" : " on " + relation));
        }
        node.path("Plans").forEach(child -> scans(child, lines));
    }

    private static Set<String> bigTables(Session session, BackfillDefinition<?> definition, TableFacts facts)
            throws SQLException {
        Set<String> names = new HashSet<>();
        Params params = Params.of("oid", facts.oid())
                .and("least", Math.max(BIG_TABLE, (long) definition.batchSize() * BIG_IN_BATCHES));
        try (PreparedStatement statement = BIG_TABLES.prepare(session.connection(), params);
                ResultSet row = statement.executeQuery()) {
            while (row.next()) {
                names.add(row.getString(1));
            }
        }
        return names;
    }

    private static Finding refused(BackfillDefinition<?> definition, String part, SQLException e) {
        // The server's message may carry values, so only its SQLSTATE is passed on.
        return new Finding(
                Finding.Code.STATEMENT_INVALID,
                definition.id() + " " + part,
                "PostgreSQL refuses the SQL of the " + part + " of backfill " + definition.id() + " (SQLSTATE "
                        + e.getSQLState() + "). " + hint(String.valueOf(e.getSQLState()))
                        + " Run the expression in psql to see where.");
    }

    private static String hint(String state) {
        return switch (state) {
            case "42601" -> "It is a syntax error.";
            case "42703" -> "A column does not exist.";
            case "42P01" -> "A table does not exist.";
            case "42883" -> "A function or operator does not exist for these types.";
            case "42804" -> "The type of an expression does not fit its column, or a condition is not boolean.";
            case "42702" -> "A column name is ambiguous: qualify it with the table's name.";
            case "42501" -> "A privilege is missing, or row-level security hides rows from this role.";
            case "55000" -> "The table publishes updates and has no replica identity.";
            case "0A000" ->
                "It is something that PostgreSQL can't do; SQL over the window on a table with a rule, for instance.";
            case "42803" -> "An aggregate is used where only row values may be.";
            default -> "";
        };
    }

    /** What came of planning: refused, or a plan. */
    record Planned(@Nullable SQLException refused, JsonNode plan) {}

    static Planned plan(Session session, Sql sql, Params params) throws SQLException {
        run(session, "/* backfill:probe */ SAVEPOINT backfill_probe_");
        try (PreparedStatement statement = sql.explained().prepare(session.connection(), params);
                ResultSet row = statement.executeQuery()) {
            row.next();
            return new Planned(null, JSON.readTree(row.getString(1)).path(0).path("Plan"));
        } catch (JsonProcessingException e) {
            throw new SQLException("EXPLAIN answered with something else than JSON", "XX000", e);
        } catch (SQLException e) {
            return switch (SqlFailure.of(e)) {
                // No plan is cached here: what looks like a stale one is a feature that PostgreSQL does not have.
                case DATA, DEFINITION, SCHEMA, STALE_PLAN -> new Planned(e, MissingNode.getInstance());
                default -> throw e;
            };
        } finally {
            if (!session.isIdle()) {
                run(session, "/* backfill:probe */ ROLLBACK TO SAVEPOINT backfill_probe_");
            }
        }
    }

    private static boolean readsAny(JsonNode node, Set<String> tables) {
        if (node.path("Node Type").asText().equals("Seq Scan")
                && tables.contains(node.path("Relation Name").asText())) {
            return true;
        }
        for (JsonNode child : node.path("Plans")) {
            if (readsAny(child, tables)) {
                return true;
            }
        }
        return false;
    }

    private static void run(Session session, String command) throws SQLException {
        try (PreparedStatement statement = session.connection().prepareStatement(command)) {
            statement.execute();
        }
    }
}
