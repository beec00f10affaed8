package dev.backfill;

import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/** Refuses fragments that can't be one; what they mean is PostgreSQL's to judge, at preflight. */
final class SqlFragments {

    private static final int MAX_CHARS = 20_000;
    private static final Set<String> STATEMENTS = Set.of("insert", "update", "delete", "merge", "with");

    private SqlFragments() {}

    static String check(String where, String sql) {
        Objects.requireNonNull(sql, where);
        if (sql.isBlank() || sql.length() > MAX_CHARS || sql.indexOf('\0') >= 0) {
            throw new InvalidDefinitionException("The SQL of '" + where + "' must be 1 to " + MAX_CHARS
                    + " characters without NUL, got " + sql.length() + ".");
        }
        return sql;
    }

    static String statement(String sql) {
        check("statement", sql);
        String first = sql.strip().split("[^A-Za-z]", 2)[0].toLowerCase(Locale.ROOT);
        if (!STATEMENTS.contains(first)) {
            throw new InvalidDefinitionException(
                    "The SQL of 'statement' must begin with INSERT, UPDATE, DELETE, MERGE or WITH.");
        }
        if (!sql.contains(StatementRepair.WINDOW)) {
            throw new InvalidDefinitionException("The SQL of 'statement' does not mention " + StatementRepair.WINDOW
                    + ", so it would not be bounded by the window. Take the rows from " + StatementRepair.WINDOW
                    + " AS w where the source table would stand.");
        }
        return sql;
    }

    /** Refuses a part that was given before, because one of the two would be lost. */
    static void once(String part, @Nullable String given) {
        if (given != null) {
            throw new InvalidDefinitionException(
                    "The repair names '" + part + "' twice. Give one; join conditions with AND.");
        }
    }
}
