package dev.backfill.testkit.conformance;

import dev.backfill.BackfillDefinition;
import dev.backfill.internal.Identifiers;
import dev.backfill.testkit.TestDatabase;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The author's tables: saved under a label, restored from it, looked at. Restoring bypasses triggers and foreign keys where the
 * user may do that, because what they would do was saved, too.
 */
final class TestData {

    /** The label of what seed() left. */
    static final String SEED = "seed";

    /** The label of what one uninterrupted run made of it. */
    static final String REPAIRED = "repaired";

    private static final String LIBRARY =
            "'backfill','backfill_definition','backfill_validation','backfill_request','backfill_audit','backfill_pace',"
                    + "'backfill_family'";

    private final TestDatabase database;
    private final BackfillDefinition<?> definition;
    private final List<String> ignored;
    private final List<DataTable> tables;
    private final DataTable source;
    private final boolean bypass;
    private boolean hasLibrary;

    TestData(TestDatabase database, BackfillDefinition<?> definition, List<String> ignored) {
        this.database = database;
        this.definition = definition;
        this.ignored = List.copyOf(ignored);
        this.tables = read();
        String name = Objects.requireNonNull(database.queryText(
                "select ?::regclass::text", definition.table().quoted()));
        this.source = tables.stream()
                .filter(table -> table.name().equals(name))
                .findFirst()
                .orElseThrow(() ->
                        new IllegalStateException("The source " + name + " is not a plain or partitioned table."));
        this.bypass = database.queryBoolean("select rolsuper from pg_roles where rolname = current_user");
        database.execute("create schema if not exists " + DataTable.COPIES);
    }

    DataTable source() {
        return source;
    }

    private List<DataTable> read() {
        List<DataTable> found = new ArrayList<>();
        String sourceOid =
                database.queryText("select ?::regclass::oid", definition.table().quoted());
        for (Map<String, @Nullable String> row :
                database.queryRows("select c.oid, c.oid::regclass::text as name from pg_class c"
                        + " join pg_namespace n on n.oid = c.relnamespace"
                        + " where c.relkind in ('r', 'p') and not c.relispartition and c.relpersistence <> 't'"
                        + " and n.nspname not in ('pg_catalog', 'information_schema', '" + DataTable.COPIES + "')"
                        + " and c.relname not in (" + LIBRARY + ", 'backfill_schema_version') order by c.oid")) {
            String oid = Objects.requireNonNull(row.get("oid"));
            List<String> identity = oid.equals(sourceOid)
                    ? definition.key().columns().stream()
                            .map(column -> column.name())
                            .toList()
                    : database.queryTexts(
                            "select a.attname from pg_index i cross join unnest(i.indkey) with ordinality k(attnum, place)"
                                    + " join pg_attribute a on a.attrelid = i.indrelid and a.attnum = k.attnum"
                                    + " where i.indrelid = ?::oid and i.indisprimary order by k.place",
                            oid);
            List<String> settable = database.queryTexts(
                    "select attname from pg_attribute where attrelid = ?::oid and attnum > 0 and not attisdropped"
                            + " and attgenerated = '' order by attnum",
                    oid);
            found.add(new DataTable(found.size(), Objects.requireNonNull(row.get("name")), identity, settable));
        }
        return List.copyOf(found);
    }

    /** The library's tables are there from now on. */
    void libraryIsThere() {
        hasLibrary = true;
    }

    /** Keeps a copy of everything. */
    void save(String label) {
        for (DataTable table : tables) {
            database.execute("drop table if exists " + table.copy(label));
            database.execute("create table " + table.copy(label) + " as select " + table.settableColumns() + " from "
                    + table.name());
        }
    }

    /** Brings everything back, and makes the library forget every backfill, so that the next start is the first. */
    void reset(String label) {
        inTransaction(statement -> {
            restore(statement, label);
            for (String table : LIBRARY.replace("'", "").split(",", -1)) {
                if (hasLibrary) {
                    statement.execute("delete from " + table);
                }
            }
        });
    }

    /** Brings everything back; the library knows what it knew. */
    void restore(String label) {
        inTransaction(statement -> restore(statement, label));
    }

    private void restore(Statement statement, String label) throws SQLException {
        // Small tables: deleting is faster than truncating.
        for (DataTable table : tables) {
            statement.execute("delete from " + table.name());
        }
        for (DataTable table : tables) {
            statement.execute("insert into " + table.name() + " (" + table.settableColumns()
                    + ") overriding system value select " + table.settableColumns() + " from " + table.copy(label));
        }
    }

    /** Gives one row the content it has under a label, or removes it if it has none there. */
    void setRow(DataTable table, String row, String label) {
        removeRow(table, row);
        update(
                "insert into " + table.name() + " (" + table.settableColumns() + ") overriding system value select "
                        + table.settableColumns() + " from " + table.copy(label) + " s where " + table.identityOf("s")
                        + " = ?",
                row);
    }

    /** Removes one row. */
    void removeRow(DataTable table, String row) {
        update("delete from " + table.name() + " s where " + table.identityOf("s") + " = ?", row);
    }

    /** Everything, without the columns that may differ from run to run. */
    Snapshot snapshot() {
        return read("(to_jsonb(s) - ?::text[])::text");
    }

    /** Which version of each row is there: differs after a row was rewritten, even with the same values. */
    Snapshot versions() {
        return read("concat(s.tableoid, ' ', s.ctid, ' ', s.xmin, coalesce(left((?::text[])[1], 0), ''))");
    }

    private Snapshot read(String content) {
        Map<DataTable, TreeMap<String, String>> all = new LinkedHashMap<>();
        String without = "{" + ignored.stream().map(c -> '"' + c + '"').collect(Collectors.joining(",")) + "}";
        for (DataTable table : tables) {
            TreeMap<String, String> rows = new TreeMap<>();
            for (Map<String, @Nullable String> row : database.queryRows(
                    "select " + table.identityOf("s") + " as row, " + content + " as content from " + table.name()
                            + " s",
                    without)) {
                String name = String.valueOf(row.get("row"));
                // Where nothing tells rows apart, equal ones are counted.
                while (rows.containsKey(name)) {
                    name += "'";
                }
                rows.put(name, String.valueOf(row.get("content")));
            }
            all.put(table, rows);
        }
        return new Snapshot(all);
    }

    /** The source's rows in the order of the key, by what names them. */
    List<String> sourceRowsInOrder() {
        String order = definition.key().columns().stream()
                .map(column -> "s." + Identifiers.quote(column.name())
                        + (column.collation() == null ? "" : " collate " + Identifiers.quote(column.collation())))
                .collect(Collectors.joining(", "));
        return database.queryTexts(
                "select " + source.identityOf("s") + " from " + source.name() + " s order by " + order);
    }

    private void update(String sql, String row) {
        inTransaction(statement -> {
            try (PreparedStatement prepared = statement.getConnection().prepareStatement(sql)) {
                prepared.setString(1, row);
                prepared.executeUpdate();
            }
        });
    }

    private interface Work {
        void with(Statement statement) throws SQLException;
    }

    private void inTransaction(Work work) {
        try (Connection connection = database.get();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            if (bypass) {
                statement.execute("set local session_replication_role = replica");
            }
            work.with(statement);
            connection.commit();
        } catch (SQLException e) {
            throw new IllegalStateException("The conformance checks could not prepare the data: " + e.getMessage(), e);
        }
    }
}
