package dev.backfill.postgres.schema;

import dev.backfill.testkit.TestDatabase;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;

/** What PostgreSQL's catalog says of everything in a schema, without the schema's name and the order in which it came about. */
final class CatalogPicture {

    private static final List<String> LOOKS = List.of(
            "select 'relation', c.relname, c.relkind, c.relpersistence, c.relispartition, array_to_string(c.reloptions, ', ') as options"
                    + " from pg_class c where c.relnamespace = ?::regnamespace order by c.relname",
            "select 'column', c.relname, a.attname, format_type(a.atttypid, a.atttypmod) as type, a.attnotnull, a.attidentity,"
                    + " a.attgenerated, a.attstorage, a.attcompression, a.attcollation::regcollation as collation,"
                    + " pg_get_expr(d.adbin, d.adrelid) as default_value"
                    + " from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped"
                    + " left join pg_attrdef d on d.adrelid = c.oid and d.adnum = a.attnum"
                    + " where c.relnamespace = ?::regnamespace and c.relkind = 'r' order by c.relname, a.attname",
            "select 'constraint', k.conrelid::regclass::text as of, k.conname, k.contype, k.condeferrable, k.convalidated,"
                    + " pg_get_constraintdef(k.oid) as definition"
                    + " from pg_constraint k where k.connamespace = ?::regnamespace order by 2, k.conname",
            "select 'index', pg_get_indexdef(i.indexrelid) as definition, i.indisvalid, i.indisunique, i.indisprimary"
                    + " from pg_index i join pg_class c on c.oid = i.indexrelid where c.relnamespace = ?::regnamespace order by 2",
            "select 'sequence', c.relname, format_type(s.seqtypid, null) as type, s.seqstart, s.seqincrement, s.seqcycle"
                    + " from pg_sequence s join pg_class c on c.oid = s.seqrelid where c.relnamespace = ?::regnamespace"
                    + " order by c.relname",
            "select 'trigger', tgname from pg_trigger t join pg_class c on c.oid = t.tgrelid"
                    + " where c.relnamespace = ?::regnamespace order by tgname",
            "select 'rule', rulename from pg_rewrite r join pg_class c on c.oid = r.ev_class"
                    + " where c.relnamespace = ?::regnamespace order by rulename",
            "select 'function', proname from pg_proc where pronamespace = ?::regnamespace order by proname");

    private CatalogPicture() {}

    static List<String> of(TestDatabase db, String schema) {
        List<String> lines = new ArrayList<>();
        for (String look : LOOKS) {
            for (Map<String, String> row : db.queryRows(look, schema)) {
                lines.add(row.values().toString().replace(schema + ".", ""));
            }
        }
        return lines;
    }

    /** The lines of one kind. */
    static List<String> of(TestDatabase db, String schema, String kind) {
        return of(db, schema).stream()
                .filter(line -> line.startsWith("[" + kind + ","))
                .toList();
    }
}
