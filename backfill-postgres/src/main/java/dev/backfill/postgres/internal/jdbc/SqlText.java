package dev.backfill.postgres.internal.jdbc;

import java.util.regex.Pattern;

/** Reads SQL just far enough to tell code from quoted text. */
public final class SqlText {

    /** What holds no operator, parameter or command in SQL of the engine's own; an author's is read by {@link #quotedEnd}. */
    static final String QUOTED = "(?<![A-Za-z0-9_$])[eE]'(?:[^'\\\\]|\\\\.|'')*'"
            + "|'(?:[^']|'')*'"
            + "|\"(?:[^\"]|\"\")*\""
            + "|\\$(?<tag>(?:[A-Za-z_][A-Za-z0-9_]*)?)\\$.*?\\$\\k<tag>\\$"
            + "|--[^\\n]*"
            + "|/\\*.*?\\*/";

    private static final Pattern LEADING =
            Pattern.compile("^(?:\\s|;|--[^\\n]*(?:\\n|$)|/\\*.*?\\*/)*", Pattern.DOTALL);

    private SqlText() {}

    /** Doubles each question mark outside quotes, so that JDBC takes it for the operator that its author meant. */
    public static String escapeOperators(String fragment) {
        StringBuilder escaped = new StringBuilder(fragment.length() + 8);
        int at = 0;
        while (at < fragment.length()) {
            int end = quotedEnd(fragment, at);
            if (end > at) {
                escaped.append(fragment, at, end);
                at = end;
            } else {
                char c = fragment.charAt(at++);
                escaped.append(c == '?' ? "??" : String.valueOf(c));
            }
        }
        return escaped.toString();
    }

    /** The text without leading blanks, semicolons and comments: what decides which command it is. */
    public static String withoutLeadingNoise(String sql) {
        return LEADING.matcher(sql).replaceFirst("");
    }

    /** The text with everything quoted or commented taken out. */
    static String withoutQuoted(String sql) {
        StringBuilder code = new StringBuilder(sql.length());
        int at = 0;
        while (at < sql.length()) {
            int end = quotedEnd(sql, at);
            code.append(end > at ? ' ' : sql.charAt(at));
            at = Math.max(end, at + 1);
        }
        return code.toString();
    }

    /** Where the quoted text or comment that begins here ends; the same place when none begins. */
    private static int quotedEnd(String sql, int at) {
        return switch (sql.charAt(at)) {
            case '\'' -> stringEnd(sql, at + 1, '\'', isEscapeString(sql, at));
            case '"' -> stringEnd(sql, at + 1, '"', false);
            case '$' -> dollarEnd(sql, at);
            case '-' -> sql.startsWith("--", at) ? endOf(sql, "\n", at) : at;
            case '/' -> sql.startsWith("/*", at) ? commentEnd(sql, at) : at;
            default -> at;
        };
    }

    /** A doubled quote ends one part and begins the next, which comes to the same. */
    private static int stringEnd(String sql, int from, char quote, boolean escapes) {
        for (int i = from; i < sql.length(); i++) {
            if (escapes && sql.charAt(i) == '\\') {
                i++;
            } else if (sql.charAt(i) == quote) {
                if (!escapes || i + 1 >= sql.length() || sql.charAt(i + 1) != quote) {
                    return i + 1;
                }
                i++;
            }
        }
        return sql.length();
    }

    private static boolean isEscapeString(String sql, int quote) {
        return quote > 0
                && (sql.charAt(quote - 1) == 'e' || sql.charAt(quote - 1) == 'E')
                && (quote == 1 || !isNamePart(sql.charAt(quote - 2)));
    }

    private static int dollarEnd(String sql, int at) {
        if (at > 0 && isNamePart(sql.charAt(at - 1))) {
            return at;
        }
        int close = at + 1;
        while (close < sql.length() && sql.charAt(close) != '$' && isNamePart(sql.charAt(close))) {
            close++;
        }
        boolean opens = close < sql.length() && sql.charAt(close) == '$' && !Character.isDigit(sql.charAt(at + 1));
        return opens ? endOf(sql, sql.substring(at, close + 1), close + 1) : at;
    }

    // Comments nest in PostgreSQL.
    private static int commentEnd(String sql, int at) {
        int depth = 0;
        for (int i = at; i < sql.length(); i++) {
            if (sql.startsWith("/*", i)) {
                depth++;
                i++;
            } else if (sql.startsWith("*/", i)) {
                depth--;
                i++;
                if (depth == 0) {
                    return i + 1;
                }
            }
        }
        return sql.length();
    }

    private static int endOf(String sql, String terminator, int from) {
        int found = sql.indexOf(terminator, from);
        return found < 0 ? sql.length() : found + terminator.length();
    }

    private static boolean isNamePart(char c) {
        return Character.isLetterOrDigit(c) || c == '_' || c == '$' || c >= 0x80;
    }
}
