package dev.backfill.postgres.internal.batch;

import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * What the catalog says of a table, at one moment.
 *
 * @param oid its number
 * @param columns by name
 * @param indexes valid ones on plain columns, without a predicate
 * @param estimatedRows the planner's estimate over all partitions; null where it was never analysed
 * @param mayRead whether this role may select from it
 * @param updateReplaced whether a rule runs something instead of an UPDATE
 * @param hasTriggers whether it or a partition has triggers of somebody's own
 * @param plain whether PostgreSQL's own count of its updated rows is a repair's, see {@link CountSql#PLAIN}
 * @param hasChildren whether other tables inherit from it; a partitioned table has partitions instead
 */
public record TableFacts(
        long oid,
        Map<String, Column> columns,
        List<Index> indexes,
        @Nullable Long estimatedRows,
        boolean mayRead,
        boolean updateReplaced,
        boolean hasTriggers,
        boolean plain,
        boolean hasChildren) {

    /**
     * One column.
     *
     * @param castType the type as a cast without length or precision, so that a value that does not fit is an error and not cut
     * @param fullType the type with length or precision
     * @param isString whether it is of the string category
     * @param notNull whether NULL is impossible
     * @param generated whether it can't be written
     * @param mayWrite whether this role may update it
     */
    public record Column(
            String castType, String fullType, boolean isString, boolean notNull, boolean generated, boolean mayWrite) {

        /** The type under which a computed value is what the column would hold; a string that does not fit is not cut. */
        String comparableType() {
            return isString ? castType : fullType;
        }
    }

    /**
     * One index.
     *
     * @param name its name
     * @param columns the key columns, in order
     * @param collations their collations; empty text where none applies
     * @param unique whether it is unique, and checked at once
     * @param oneDirection whether all columns have the same direction, so that a keyset can walk it
     */
    public record Index(
            String name, List<String> columns, List<String> collations, boolean unique, boolean oneDirection) {}
}
