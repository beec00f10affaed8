package dev.backfill;

import java.sql.Connection;
import java.util.Optional;

/**
 * The read-only transaction of one validation. Confined to the thread and the call it was handed to.
 *
 * @param <K> the key
 * @since 0.1
 */
public interface ValidationTransaction<K> {

    /** The connection; READ ONLY is enforced by PostgreSQL, transaction control is refused. */
    Connection connection();

    /** The inclusive upper bound; empty when the source was empty at the start. */
    Optional<K> bound();

    /** The exclusive lower bound of a part of a family; empty where the range begins with the source's first key. */
    Optional<K> after();

    /**
     * A SQL condition, without parameters, that holds for rows of the source table at or below the bound, and in a part of a family
     * for those of its own range alone. Column names are qualified with the given alias.
     *
     * @param alias the alias or name under which the query knows the source table, as PostgreSQL keeps it: in lower case unless the
     *     query quotes it
     */
    String withinBound(String alias);
}
