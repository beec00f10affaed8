package dev.backfill.postgres.internal.jdbc;

import dev.backfill.internal.SqlQuotes;

/** Reads SQL just far enough to tell code from quoted text. */
public final class SqlText {

    /** What holds no operator, parameter or command in SQL of the engine's own; an author's is read by {@link #quotedEnd}. */
    static final String QUOTED = "(?<![A-Za-z0-9_$])[eE]'(?:[^'\\\\]|\\\\.|'')*'"
            + "|'(?:[^']|'')*'"
            + "|\"(?:[^\"]|\"\")*\""
            + "|\\$(?<tag>(?:[A-Za-z_][A-Za-z0-9_]*)?)\\$.*?\\$\\k<tag>\\$"
            + "|--[^\\n]*"
            + "|/\\*.*?\\*/";

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
        int at = 0;
        while (at < sql.length()) {
            int end = sql.startsWith("--", at) || sql.startsWith("/*", at) ? quotedEnd(sql, at) : at;
            if (end == at && sql.charAt(at) != ';' && !Character.isWhitespace(sql.charAt(at))) {
                return sql.substring(at);
            }
            at = Math.max(end, at + 1);
        }
        return "";
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
        int end = SqlQuotes.end(sql, at);
        return end == SqlQuotes.NEVER_CLOSED ? sql.length() : end;
    }
}
