package dev.backfill;

/** Refuses fragments that can't be one; what they mean is PostgreSQL's to judge, at preflight. */
final class SqlFragments {

    private static final int MAX_CHARS = 20_000;

    private SqlFragments() {}

    static String check(String where, String sql) {
        if (sql.isBlank() || sql.length() > MAX_CHARS || sql.indexOf('\0') >= 0) {
            throw new InvalidDefinitionException("The SQL of '" + where + "' must be 1 to " + MAX_CHARS
                    + " characters without NUL, got " + sql.length() + ".");
        }
        return sql;
    }
}
