package dev.backfill;

import dev.backfill.internal.BoundedText;
import dev.backfill.internal.SqlQuotes;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Refuses fragments that are not one complete piece of SQL by themselves, because spliced into a statement they would change what
 * stands around them. What a complete fragment means is PostgreSQL's to judge, at preflight.
 */
final class SqlFragments {

    private static final int MAX_CHARS = 20_000;
    private static final Set<String> CHANGES = Set.of("insert", "update", "delete", "merge");
    private static final Set<String> READS = Set.of("select", "values", "table");

    /** Words that end a FROM list; all of them are reserved, so no alias can be one. */
    private static final Set<String> AFTER_FROM = Set.of(
            "where",
            "group",
            "having",
            "window",
            "union",
            "intersect",
            "except",
            "order",
            "limit",
            "offset",
            "fetch",
            "for",
            "returning");

    private final String name;
    private final String sql;
    private final Deque<Integer> opened = new ArrayDeque<>();
    private final List<String> outerWords = new ArrayList<>();
    private final List<Integer> windows = new ArrayList<>();
    private boolean holdsCode;

    private SqlFragments(String name, String sql) {
        this.name = name;
        this.sql = sql;
    }

    /** One expression or condition. */
    static String check(String name, String sql) {
        withoutWindow(name, sql);
        return sql;
    }

    /** One or more tables as a FROM clause has them, without what may follow it. */
    static String tables(String name, String sql) {
        SqlFragments read = withoutWindow(name, sql);
        for (String word : read.outerWords) {
            if (AFTER_FROM.contains(word)) {
                throw read.refused("holds " + word.toUpperCase(Locale.ROOT)
                        + " outside parentheses, which would end the list of tables. Put a subquery into parentheses.");
            }
        }
        return sql;
    }

    /** One statement that changes rows of the window; returns the parts between its mentions of the window. */
    static List<String> statement(String name, String sql) {
        SqlFragments read = read(name, sql);
        String first = read.outerWords.isEmpty() ? "" : read.outerWords.get(0);
        String command = read.outerWords.stream()
                .filter(word -> CHANGES.contains(word) || READS.contains(word))
                .findFirst()
                .orElse("");
        if (!CHANGES.contains(command) || !(first.equals(command) || first.equals("with"))) {
            throw read.refused("must be one INSERT, UPDATE, DELETE or MERGE, with or without a WITH before it.");
        }
        if (read.outerWords.contains("returning")) {
            throw read.refused("holds RETURNING, and nobody reads what it returns. Leave it out.");
        }
        if (read.windows.isEmpty()) {
            throw read.refused("does not mention " + StatementRepair.WINDOW
                    + ", so the window would not bound it. Write " + StatementRepair.WINDOW
                    + " AS w where it shall read the window's rows.");
        }
        List<String> parts = new ArrayList<>();
        int from = 0;
        for (int at : read.windows) {
            parts.add(sql.substring(from, at));
            from = at + StatementRepair.WINDOW.length();
        }
        parts.add(sql.substring(from));
        return List.copyOf(parts);
    }

    /** Refuses a part that was given before, because one of the two would be lost. */
    static void once(String part, @Nullable String given) {
        if (given != null) {
            throw new InvalidDefinitionException(
                    "The repair names '" + part + "' twice. Give one; join conditions with AND.");
        }
    }

    private static SqlFragments withoutWindow(String name, String sql) {
        SqlFragments fragment = read(name, sql);
        if (!fragment.windows.isEmpty()) {
            throw fragment.braces(fragment.windows.get(0));
        }
        return fragment;
    }

    private static SqlFragments read(String name, String sql) {
        Objects.requireNonNull(sql, name);
        SqlFragments fragment = new SqlFragments(name, sql);
        if (sql.isBlank() || sql.length() > MAX_CHARS || sql.indexOf('\0') >= 0) {
            throw fragment.refused("must be 1 to " + MAX_CHARS + " characters without NUL, got " + sql.length() + ".");
        }
        int at = 0;
        while (at < sql.length()) {
            at = fragment.token(at);
        }
        Integer open = fragment.opened.peekLast();
        if (open != null) {
            throw fragment.unbalanced("opens '" + sql.charAt(open) + "' and does not close it", open);
        }
        if (!fragment.holdsCode) {
            throw fragment.refused("holds nothing but comments.");
        }
        return fragment;
    }

    /** Reads one token, and returns where the next one begins. */
    private int token(int at) {
        int end = SqlQuotes.end(sql, at);
        char c = sql.charAt(at);
        if (end == SqlQuotes.NEVER_CLOSED) {
            throw unbalanced("begins " + quoted(c) + " and does not end it", at);
        }
        if (end > at) {
            holdsCode |= c != '-' && c != '/';
            return end;
        }
        if (Character.isWhitespace(c)) {
            return at + 1;
        }
        holdsCode = true;
        if (SqlQuotes.isNamePart(c)) {
            return word(at);
        }
        switch (c) {
            case '(', '[' -> opened.addLast(at);
            case ')', ']' -> close(at, c);
            case ';' ->
                throw refused("holds ';' at character " + (at + 1) + ", which ends a statement. Give one expression"
                        + " or statement, without it.");
            case '{', '}' -> {
                if (!sql.startsWith(StatementRepair.WINDOW, at)) {
                    throw braces(at);
                }
                windows.add(at);
                return at + StatementRepair.WINDOW.length();
            }
            default -> {}
        }
        return at + 1;
    }

    private int word(int at) {
        int end = at;
        while (end < sql.length() && SqlQuotes.isNamePart(sql.charAt(end))) {
            end++;
        }
        if (sql.charAt(at) == '$') {
            throw refused("holds the parameter " + BoundedText.clean(sql.substring(at, end), 20) + " at character "
                    + (at + 1) + ", and fragments have none. Write the value as a literal.");
        }
        if (opened.isEmpty()) {
            outerWords.add(sql.substring(at, end).toLowerCase(Locale.ROOT));
        }
        return end;
    }

    private void close(int at, char closing) {
        Integer open = opened.pollLast();
        if (open == null) {
            throw unbalanced("closes '" + closing + "' that it does not open", at);
        }
        if (sql.charAt(open) != (closing == ')' ? '(' : '[')) {
            throw unbalanced(
                    "closes '" + closing + "' where '" + sql.charAt(open) + "' of character " + (open + 1) + " is open",
                    at);
        }
    }

    private static String quoted(char first) {
        return switch (first) {
            case '\'' -> "a string with '";
            case '"' -> "a quoted name with \"";
            case '$' -> "a dollar-quoted string";
            default -> "a comment with /*";
        };
    }

    private InvalidDefinitionException braces(int at) {
        return refused("holds '" + sql.charAt(at) + "' at character " + (at + 1) + ", which is no SQL. Only "
                + StatementRepair.WINDOW + " in Repair.statement(...) is written in braces.");
    }

    private InvalidDefinitionException unbalanced(String what, int at) {
        return refused(what + " (character " + (at + 1)
                + "). It must be complete by itself, because it is put into a larger statement.");
    }

    private InvalidDefinitionException refused(String what) {
        return new InvalidDefinitionException("The SQL of '" + name + "' " + what);
    }
}
