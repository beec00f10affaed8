package dev.backfill.admin;

import org.jspecify.annotations.Nullable;

/**
 * Which page of the audit is asked for.
 *
 * @param limit how many records
 * @param before only records with a smaller number; null for the newest
 */
record AuditQuery(int limit, @Nullable Long before) {

    private static final int DEFAULT_LIMIT = 50;
    private static final int MAX_LIMIT = 200;

    /** Reads a raw query string. */
    static AuditQuery of(@Nullable String rawQuery) {
        Query query = new Query(rawQuery);
        Long limit = query.number("limit", MAX_LIMIT);
        return new AuditQuery(limit == null ? DEFAULT_LIMIT : limit.intValue(), query.number("before", Long.MAX_VALUE));
    }
}
