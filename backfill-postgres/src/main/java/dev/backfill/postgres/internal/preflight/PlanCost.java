package dev.backfill.postgres.internal.preflight;

import com.fasterxml.jackson.databind.JsonNode;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Optional;

/**
 * What the scans of a plan cost in all their executions: EXPLAIN tells the cost of one, and a lookup is executed for each row.
 * Stateless.
 */
final class PlanCost {

    private PlanCost() {}

    /**
     * One scan.
     *
     * @param kind the node, for instance {@code Seq Scan}
     * @param relation what it reads
     * @param executions how often the planner expects it
     * @param cost of all executions, in the planner's unit
     */
    record Scan(String kind, String relation, double executions, double cost) {

        @Override
        public String toString() {
            return kind + " on " + relation
                    + (executions > 1 ? ", executed " + Math.round(executions) + " times for a window" : "");
        }
    }

    /**
     * The scan that costs most; empty for a plan without any.
     *
     * @param window the rows of a window
     */
    static Optional<Scan> dearest(JsonNode plan, int window) {
        return scans(plan, window).stream().max(Comparator.comparingDouble(Scan::cost));
    }

    /** All scans of tables. */
    static List<Scan> scans(JsonNode plan, int window) {
        List<Scan> found = new ArrayList<>();
        walk(plan, 1, window, found);
        return found;
    }

    private static void walk(JsonNode node, double executions, int window, List<Scan> found) {
        String relation = node.path("Relation Name").asText();
        String kind = node.path("Node Type").asText();
        if (!relation.isEmpty() && !kind.equals("ModifyTable")) {
            found.add(new Scan(kind, relation, executions, executions * ownCost(node, kind)));
        }
        for (JsonNode child : node.path("Plans")) {
            walk(child, executions * times(node, kind, child, window), window, found);
        }
    }

    /** Without what a filter's lookups cost, which a walk through an index is charged with. */
    private static double ownCost(JsonNode node, String kind) {
        for (JsonNode child : node.path("Plans")) {
            if (kind.startsWith("Index")
                    && child.path("Parent Relationship").asText().equals("SubPlan")) {
                return 0;
            }
        }
        return node.path("Total Cost").asDouble();
    }

    /** How often a node executes one of its children. */
    private static double times(JsonNode node, String kind, JsonNode child, int window) {
        String relationship = child.path("Parent Relationship").asText();
        if (relationship.equals("SubPlan")) {
            // The planner takes a window's range, of which it knows no end, for a narrow one.
            return window;
        }
        // Read once and kept, or kept for each value.
        boolean kept = List.of("Materialize", "Memoize")
                .contains(child.path("Node Type").asText());
        return kind.equals("Nested Loop") && relationship.equals("Inner") && !kept
                ? rows(node.path("Plans").path(0), window)
                : 1;
    }

    private static double rows(JsonNode node, int window) {
        return Math.max(1, Math.min(window, node.path("Plan Rows").asDouble()));
    }
}
