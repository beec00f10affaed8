package dev.backfill.postgres.internal.preflight;

import dev.backfill.BackfillDefinition;
import dev.backfill.operate.Preflight;
import dev.backfill.operate.Preflight.Finding;
import dev.backfill.postgres.internal.batch.TableFacts;
import dev.backfill.postgres.internal.jdbc.Session;
import dev.backfill.postgres.internal.jdbc.Sql;
import dev.backfill.postgres.internal.jdbc.Sql.Params;
import java.sql.PreparedStatement;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** What a repair will set off besides its own writes, and what it will cost: warnings and estimates, never refusals. Stateless. */
public final class PreflightWarnings {

    private static final String FAMILY = """
            (SELECT :oid::oid UNION SELECT t.relid FROM pg_catalog.pg_partition_tree(:oid::oid) AS t)""";

    // A null list of columns is own code, which does not say what it writes: then everything counts.
    private static final String WRITTEN = "(:columns::text[] IS NULL OR %s = ANY (:columns))";

    private static final List<Check> CHECKS = List.of(
            check(
                    Finding.Code.TRIGGER_FIRES,
                    "Trigger %s fires for each row that the repair changes. See that it may, or disable it for"
                            + " the repair's role.",
                    """
                    SELECT DISTINCT g.tgname AS subject FROM pg_catalog.pg_trigger AS g
                    WHERE g.tgrelid IN {family} AND NOT g.tgisinternal AND g.tgenabled NOT IN ('D', 'R')
                      AND (:columns::text[] IS NULL OR (g.tgtype & 16) <> 0 AND (g.tgattr::text = '' OR EXISTS (
                        SELECT FROM pg_catalog.pg_attribute AS a WHERE a.attrelid = g.tgrelid AND a.attnum = ANY (g.tgattr)
                          AND {written:a.attname})))"""),
            check(
                    Finding.Code.RULE_FIRES,
                    "Rule %s rewrites the repair's UPDATE. See that what it does instead is what you want.",
                    """
                    SELECT r.rulename AS subject FROM pg_catalog.pg_rewrite AS r
                    WHERE r.ev_class = :oid::oid AND r.ev_enabled <> 'D' AND r.ev_type <> '1'
                      AND (:columns::text[] IS NULL OR r.ev_type = '2')"""),
            check(
                    Finding.Code.FOREIGN_KEY_CHECKED,
                    "Foreign key %s is checked for each changed row, which takes a lock on the row it" + " refers to.",
                    """
                    SELECT DISTINCT c.conname AS subject FROM pg_catalog.pg_constraint AS c
                    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.conrelid AND a.attnum = ANY (c.conkey)
                    WHERE c.contype = 'f' AND c.conrelid = :oid::oid AND {written:a.attname}"""),
            check(
                    Finding.Code.FOREIGN_KEY_REFERENCED,
                    "Foreign key %s refers to a column that the repair writes: each change looks for"
                            + " referring rows, and may cascade to them.",
                    """
                    SELECT DISTINCT c.conname AS subject FROM pg_catalog.pg_constraint AS c
                    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = c.confrelid AND a.attnum = ANY (c.confkey)
                    WHERE c.contype = 'f' AND c.confrelid = :oid::oid AND {written:a.attname}"""),
            check(
                    Finding.Code.GENERATED_COLUMN_RECOMPUTED,
                    "Generated column %s is computed again for each changed row.",
                    """
                    SELECT DISTINCT a.attname AS subject FROM pg_catalog.pg_attrdef AS d
                    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = d.adrelid AND a.attnum = d.adnum AND a.attgenerated <> ''
                    JOIN pg_catalog.pg_depend AS p ON p.refobjid = d.adrelid AND p.refobjsubid <> d.adnum
                      AND (p.classid = 'pg_catalog.pg_attrdef'::regclass AND p.objid = d.oid
                        OR p.classid = 'pg_catalog.pg_class'::regclass AND p.objid = d.adrelid AND p.objsubid = d.adnum)
                    JOIN pg_catalog.pg_attribute AS w ON w.attrelid = d.adrelid AND w.attnum = p.refobjsubid
                    WHERE d.adrelid = :oid::oid AND p.refclassid = 'pg_catalog.pg_class'::regclass
                      AND {written:w.attname}"""),
            check(
                    Finding.Code.PUBLISHED,
                    "Publication %s sends each changed row to its subscribers. Give the repair a pace that they keep"
                            + " up with.",
                    """
                    SELECT DISTINCT t.pubname AS subject FROM pg_catalog.pg_publication_tables AS t
                    JOIN pg_catalog.pg_publication AS p ON p.pubname = t.pubname AND p.pubupdate
                    JOIN pg_catalog.pg_namespace AS n ON n.nspname = t.schemaname
                    JOIN pg_catalog.pg_class AS c ON c.relnamespace = n.oid AND c.relname = t.tablename
                    WHERE c.oid IN {family}"""),
            check(
                    Finding.Code.WRITTEN_COLUMN_INDEXED,
                    "Index %s covers a column that the repair writes, so no update is heap-only: each"
                            + " changed row writes to every index. Build it after the repair, if you can.",
                    """
                    SELECT DISTINCT ic.relname AS subject FROM pg_catalog.pg_index AS i
                    JOIN pg_catalog.pg_class AS ic ON ic.oid = i.indexrelid
                    JOIN pg_catalog.pg_am AS m ON m.oid = ic.relam AND m.amname <> 'brin'
                    JOIN pg_catalog.pg_attribute AS a ON a.attrelid = i.indrelid AND (a.attnum = ANY (i.indkey) OR EXISTS (
                      SELECT FROM pg_catalog.pg_depend AS p WHERE p.classid = 'pg_catalog.pg_class'::regclass
                        AND p.objid = i.indexrelid AND p.refobjid = i.indrelid AND p.refobjsubid = a.attnum))
                    WHERE i.indrelid = :oid::oid AND :columns::text[] IS NOT NULL AND {written:a.attname}"""),
            check(
                    Finding.Code.AUTOVACUUM_OFF,
                    "Autovacuum is off for %s: the row versions that the repair leaves are not cleaned up."
                            + " Switch it on, or vacuum by hand while it runs.",
                    """
                    SELECT c.relname AS subject FROM pg_catalog.pg_class AS c
                    WHERE c.oid IN {family} AND c.relkind = 'r' AND (pg_catalog.current_setting('autovacuum') = 'off' OR EXISTS (
                      SELECT FROM pg_catalog.pg_options_to_table(c.reloptions) AS o
                      WHERE o.option_name = 'autovacuum_enabled' AND o.option_value IN ('off', 'false', 'no', '0')))"""),
            check(
                    Finding.Code.NEVER_ANALYSED,
                    "Table %s was never analysed: nothing can be estimated, and plans are guesses. ANALYZE it.",
                    """
                    SELECT c.relname AS subject FROM pg_catalog.pg_class AS c
                    WHERE c.oid IN {family} AND c.relkind = 'r' AND c.reltuples < 0"""),
            check(
                    Finding.Code.WRITERS_OPEN,
                    "Open now are %s. A start waits for all of them before its first window.",
                    """
                    SELECT count(*) || ' transactions that have written, the oldest for '
                      || extract(epoch FROM pg_catalog.clock_timestamp() - min(a.xact_start))::bigint || ' s' AS subject
                    FROM pg_catalog.pg_stat_activity AS a
                    WHERE a.backend_xid IS NOT NULL AND a.pid <> pg_catalog.pg_backend_pid() HAVING count(*) > 0"""));

    private static final Sql SIZE = Sql.of("""
            /* backfill:preflight */ SELECT sum(c.reltuples)::bigint AS tuples, bool_or(c.reltuples < 0) AS unknown,
              sum(c.relpages)::bigint * pg_catalog.current_setting('block_size')::bigint AS bytes,
              (SELECT count(*) FROM pg_catalog.pg_index AS i WHERE i.indrelid = :oid::oid AND i.indisready) AS indexes
            FROM pg_catalog.pg_class AS c WHERE c.relkind = 'r' AND c.oid IN\s""" + FAMILY);

    // A heap or index record's header and its part of commit and block references; measured between 40 and 80.
    private static final long RECORD_BYTES = 60;

    private PreflightWarnings() {}

    private record Check(Finding.Code code, String message, Sql sql) {}

    private static Check check(Finding.Code code, String message, String template) {
        String text = template.replace("{family}", FAMILY);
        for (String column : List.of("a.attname", "w.attname")) {
            text = text.replace("{written:" + column + "}", WRITTEN.formatted(column + "::text"));
        }
        return new Check(code, message, Sql.of("/* backfill:preflight */ " + text));
    }

    /** Everything worth knowing before a start. */
    public static List<Finding> warnings(Session session, BackfillDefinition<?> definition, TableFacts facts)
            throws SQLException {
        Params params = Params.of("oid", facts.oid()).and("columns", written(definition));
        List<Finding> findings = new ArrayList<>();
        for (Check check : CHECKS) {
            try (PreparedStatement statement = check.sql().prepare(session.connection(), params);
                    ResultSet row = statement.executeQuery()) {
                while (row.next()) {
                    String subject = row.getString("subject");
                    findings.add(
                            new Finding(check.code(), subject, String.format(Locale.ROOT, check.message(), subject)));
                }
            }
        }
        return findings;
    }

    private static String @Nullable [] written(BackfillDefinition<?> definition) {
        List<String> columns = SchemaCheck.writtenColumns(definition);
        return columns.isEmpty() ? null : columns.toArray(new String[0]);
    }

    /** What repairing every row would come to, each number with where it comes from. */
    public static Preflight.Estimates estimates(Session session, BackfillDefinition<?> definition, TableFacts facts)
            throws SQLException {
        try (PreparedStatement statement = SIZE.prepare(session.connection(), Params.of("oid", facts.oid()));
                ResultSet row = statement.executeQuery()) {
            row.next();
            long tuples = row.getLong("tuples");
            if (row.getBoolean("unknown") || facts.estimatedRows() == null) {
                return new Preflight.Estimates(null, null, null, null);
            }
            if (tuples == 0) {
                return new Preflight.Estimates(0L, "the planner's statistics of the table", 0L, "no rows");
            }
            long width = row.getLong("bytes") / tuples;
            long indexes = row.getLong("indexes");
            long perRow = width + RECORD_BYTES + indexes * RECORD_BYTES;
            return new Preflight.Estimates(
                    facts.estimatedRows(),
                    "the planner's statistics of the table",
                    tuples * perRow,
                    "if every row changed: " + tuples + " rows of about " + width + " bytes, each with an entry in "
                            + indexes + " indexes; whole-page images after checkpoints come on top, heap-only updates"
                            + " save the index entries. A rehearsal measures it");
        }
    }
}
