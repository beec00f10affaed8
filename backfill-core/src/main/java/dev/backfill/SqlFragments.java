package dev.backfill;

import java.util.Objects;

/** Refuses fragments that can't be one; what they mean is PostgreSQL's to judge, at preflight. */
final class SqlFragments {

    private static final int MAX_CHARS = 20_000;

    private SqlFragments() {}

    static String check(String where, String sql) {
        Objects.requireNonNull(sql, where);
        if (sql.isBlank() || sql.length() > MAX_CHARS || sql.indexOf('\0') >= 0) {
            throw new InvalidDefinitionException("The SQL of '" + where + "' must be 1 to " + MAX_CHARS
                    + " characters without NUL, got " + sql.length() + ".");
        }
        return sql;
    }
}
