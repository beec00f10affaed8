package dev.backfill.postgres.internal.preflight;

import dev.backfill.BackfillDefinition;
import dev.backfill.KeyType;
import dev.backfill.RequiredColumn;
import dev.backfill.RowRepair;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.postgres.internal.batch.TableFacts;
import dev.backfill.postgres.internal.jdbc.Session;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Whether the catalog has what a definition needs (CF-8) and whether its key can be walked (SR-2): asked before start and before a
 * claim, never repaired.
 *
 * @param facts what the catalog says of the source table; null when it is missing
 * @param incompatible missing or mistyped tables, columns and privileges
 * @param unwalkable what is wrong with the key
 */
public record SchemaCheck(@Nullable TableFacts facts, List<Finding> incompatible, List<Finding> unwalkable) {

    /** Whether work may go on. */
    public boolean passed() {
        return incompatible.isEmpty() && unwalkable.isEmpty();
    }

    /** All findings, the missing things first. */
    public List<Finding> all() {
        List<Finding> all = new ArrayList<>(incompatible);
        all.addAll(unwalkable);
        return all;
    }

    /** Looks everything up, in the session's transaction. */
    public static SchemaCheck of(Session session, BackfillDefinition<?> definition) throws SQLException {
        List<Finding> incompatible = new ArrayList<>();
        for (RequiredColumn required : definition.required()) {
            requiredColumn(session, required, incompatible);
        }
        Optional<TableFacts> found = Catalog.table(session, definition.table());
        String table = definition.table().toString();
        if (found.isEmpty()) {
            incompatible.add(
                    new Finding(
                            Finding.Code.TABLE_MISSING,
                            table,
                            "Table " + table + " does not exist, or is no table."
                                    + " Create it, or correct the definition; an unqualified name is looked up in the search path."));
            return new SchemaCheck(null, incompatible, List.of());
        }
        TableFacts facts = found.get();
        if (!facts.mayRead()) {
            incompatible.add(new Finding(
                    Finding.Code.PRIVILEGE_MISSING,
                    table,
                    "This database role may not read table " + table + ". Grant SELECT on it."));
        }
        for (String read : readColumns(definition)) {
            column(facts, table, read, incompatible);
        }
        for (String written : writtenColumns(definition)) {
            writable(facts, table, written, incompatible);
        }
        collations(session, definition, incompatible);
        List<Finding> unwalkable = incompatible.isEmpty() ? keyFindings(session, definition, facts) : List.of();
        return new SchemaCheck(facts, incompatible, unwalkable);
    }

    private static void requiredColumn(Session session, RequiredColumn required, List<Finding> findings)
            throws SQLException {
        Optional<TableFacts> facts = Catalog.table(session, required.table());
        String table = required.table().toString();
        if (facts.isEmpty()) {
            findings.add(new Finding(
                    Finding.Code.TABLE_MISSING, table, "Required table " + table + " does not exist. Migrate first."));
            return;
        }
        TableFacts.Column column = column(facts.get(), table, required.column(), findings);
        if (column != null && required.type() != null && !required.type().equals(column.fullType())) {
            findings.add(new Finding(
                    Finding.Code.COLUMN_TYPE,
                    table + "." + required.column(),
                    "Required column " + table + "." + required.column() + " is " + column.fullType()
                            + ", the definition needs " + required.type() + "."));
        }
    }

    private static TableFacts.@Nullable Column column(
            TableFacts facts, String table, String name, List<Finding> findings) {
        TableFacts.Column column = facts.columns().get(name);
        if (column == null) {
            findings.add(new Finding(
                    Finding.Code.COLUMN_MISSING,
                    table + "." + name,
                    "Column " + table + "." + name + " does not exist. Migrate first, or correct the definition."));
        }
        return column;
    }

    private static void writable(TableFacts facts, String table, String name, List<Finding> findings) {
        TableFacts.Column column = column(facts, table, name, findings);
        if (column == null) {
            return;
        }
        if (column.generated()) {
            findings.add(new Finding(
                    Finding.Code.COLUMN_GENERATED,
                    table + "." + name,
                    "Column " + table + "." + name
                            + " is generated and can't be written. Repair the columns it is computed from."));
        } else if (!column.mayWrite()) {
            findings.add(new Finding(
                    Finding.Code.PRIVILEGE_MISSING,
                    table + "." + name,
                    "This database role may not update column " + table + "." + name + ". Grant UPDATE on it."));
        }
    }

    /** Work and proof would read through one index, whose order is not the collation's any more (SR-9, VA-4). */
    private static void collations(Session session, BackfillDefinition<?> definition, List<Finding> findings)
            throws SQLException {
        for (KeyType.Column key : definition.key().columns()) {
            if (key.collation() != null && Catalog.isVersionChanged(session, key.collation())) {
                String subject = definition.table() + "." + key.name();
                findings.add(new Finding(
                        Finding.Code.COLLATION_VERSION_CHANGED,
                        subject,
                        "The version of collation " + key.collation() + " of key column " + subject
                                + " is not the recorded one, so its indexes may be out of order. REINDEX them, then ALTER"
                                + " COLLATION or DATABASE … REFRESH VERSION."));
            }
        }
    }

    private static List<Finding> keyFindings(Session session, BackfillDefinition<?> definition, TableFacts facts)
            throws SQLException {
        List<Finding> findings = new ArrayList<>();
        String table = definition.table().toString();
        for (KeyType.Column key : definition.key().columns()) {
            keyColumn(session, facts, definition, key, findings);
        }
        if (!findings.isEmpty()) {
            return findings;
        }
        List<String> names =
                definition.key().columns().stream().map(KeyType.Column::name).toList();
        List<String> collations = definition.key().columns().stream()
                .map(c -> c.collation() == null ? "" : c.collation())
                .toList();
        String key = definition.key().toString();
        children(facts, table, findings);
        rules(definition, facts, table, findings);
        if (facts.indexes().stream()
                .noneMatch(i -> i.unique() && Set.copyOf(names).containsAll(i.columns()))) {
            findings.add(
                    new Finding(
                            Finding.Code.KEY_NOT_UNIQUE,
                            table,
                            "Key " + key + " of table " + table + " is not unique: no valid"
                                    + " unique index covers it or a part of it. Add a column that breaks ties, or a unique index."));
        }
        if (facts.indexes().stream().noneMatch(i -> walks(i, names, collations))) {
            findings.add(new Finding(
                    Finding.Code.KEY_NOT_INDEXED,
                    table,
                    "Table " + table + " has no valid index whose first columns are " + key
                            + " in this order, one direction and collation. Create one, concurrently."
                            + underAnotherCollation(facts, names)));
        }
        return findings.isEmpty() ? unreadable(session, definition) : findings;
    }

    private static List<Finding> unreadable(Session session, BackfillDefinition<?> definition) throws SQLException {
        List<Finding> findings = new ArrayList<>();
        for (KeyType.Column column : definition.key().columns()) {
            KeyTypeCheck.roundTrip(session, definition.table(), column).ifPresent(findings::add);
        }
        return findings;
    }

    private static void children(TableFacts facts, String table, List<Finding> findings) {
        if (facts.hasChildren()) {
            findings.add(
                    new Finding(
                            Finding.Code.TABLE_INHERITED,
                            table,
                            "Other tables inherit from " + table
                                    + ": their rows are read and changed with its own, and no index"
                                    + " makes a key unique over all of them. Make it a partitioned table, or end the inheritance."));
        }
    }

    private static void rules(
            BackfillDefinition<?> definition, TableFacts facts, String table, List<Finding> findings) {
        if (facts.updateReplaced() && !writtenColumns(definition).isEmpty()) {
            findings.add(
                    new Finding(
                            Finding.Code.UPDATE_REPLACED,
                            table,
                            "A rule of table " + table
                                    + " runs something else instead of an UPDATE, so the repair would count"
                                    + " rows that it does not change. Drop or disable the rule, or write the repair as own code."));
        }
    }

    /** The usual reason for a text key: its index is under the database's collation, and the definition says another. */
    private static String underAnotherCollation(TableFacts facts, List<String> names) {
        return facts.indexes().stream()
                .filter(i -> walks(
                        i,
                        names,
                        i.collations()
                                .subList(
                                        0, Math.min(names.size(), i.collations().size()))))
                .findFirst()
                .map(i -> " Index " + i.name() + " has them under collation "
                        + String.join(", ", i.collations().subList(0, names.size())) + ": a key can name it,"
                        + " Keys.text(column, collation).")
                .orElse("");
    }

    private static boolean walks(TableFacts.Index index, List<String> names, List<String> collations) {
        int width = names.size();
        return index.oneDirection()
                && index.columns().size() >= width
                && index.columns().subList(0, width).equals(names)
                && index.collations().subList(0, width).equals(collations);
    }

    private static void keyColumn(
            Session session,
            TableFacts facts,
            BackfillDefinition<?> definition,
            KeyType.Column key,
            List<Finding> findings)
            throws SQLException {
        String subject = definition.table() + "." + key.name();
        TableFacts.Column column = facts.columns().get(key.name());
        if (column == null) {
            return;
        }
        if (!column.notNull()) {
            findings.add(new Finding(
                    Finding.Code.KEY_NULLABLE,
                    subject,
                    "Key column " + subject + " may be NULL, and a NULL key would be"
                            + " skipped. Set it NOT NULL, or choose another key."));
        }
        KeyTypeCheck.of(session, facts.oid(), definition.table(), key).ifPresent(findings::add);
        if (key.collation() != null) {
            Optional<Boolean> deterministic = Catalog.isDeterministic(session, key.collation());
            if (deterministic.isEmpty()) {
                findings.add(new Finding(
                        Finding.Code.COLLATION_MISSING,
                        subject,
                        "Collation " + key.collation() + " of key column " + subject
                                + " does not exist. Name one that does, C for instance."));
            } else if (!deterministic.get()) {
                findings.add(new Finding(
                        Finding.Code.COLLATION_NONDETERMINISTIC,
                        subject,
                        "Collation " + key.collation()
                                + " of key column " + subject
                                + " is nondeterministic: different keys would tie. Use a deterministic"
                                + " one, C for instance."));
            }
        }
    }

    private static List<String> readColumns(BackfillDefinition<?> definition) {
        List<String> columns = new ArrayList<>(
                definition.key().columns().stream().map(KeyType.Column::name).toList());
        columns.addAll(definition
                .repair()
                .<List<String>>match(
                        update -> List.of(),
                        RowRepair::reads,
                        statement -> List.of(),
                        delete -> List.of(),
                        custom -> List.of()));
        return columns;
    }

    /** The columns that a repair writes, as far as that is declared: own code does not say. */
    static List<String> writtenColumns(BackfillDefinition<?> definition) {
        return List.copyOf(definition
                .repair()
                .<Set<String>>match(
                        update -> update.assignments().keySet(),
                        rows -> rows.writes().keySet(),
                        statement -> Set.of(),
                        delete -> Set.of(),
                        custom -> Set.of()));
    }
}
