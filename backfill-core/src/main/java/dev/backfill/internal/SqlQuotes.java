package dev.backfill.internal;

/** Tells code from quoted text and comments in SQL, by PostgreSQL's lexical rules with {@code standard_conforming_strings}. */
public final class SqlQuotes {

    /** What {@link #end} says of quoted text or a comment that is never closed. */
    public static final int NEVER_CLOSED = -1;

    private SqlQuotes() {}

    /**
     * Where the string, quoted name, dollar quote or comment that begins at a place ends.
     *
     * @return the place after its last character; the same place if none begins there; {@link #NEVER_CLOSED}
     */
    public static int end(String sql, int at) {
        return switch (sql.charAt(at)) {
            case '\'' -> isEscapeString(sql, at) ? escapeStringEnd(sql, at + 1) : plainEnd(sql, at + 1, '\'');
            case '"' -> plainEnd(sql, at + 1, '"');
            case '$' -> dollarEnd(sql, at);
            case '-' -> sql.startsWith("--", at) ? lineEnd(sql, at) : at;
            case '/' -> sql.startsWith("/*", at) ? commentEnd(sql, at) : at;
            default -> at;
        };
    }

    /** A doubled quote ends one part and begins the next, which comes to the same. */
    private static int plainEnd(String sql, int from, char quote) {
        int close = sql.indexOf(quote, from);
        return close < 0 ? NEVER_CLOSED : close + 1;
    }

    private static int escapeStringEnd(String sql, int from) {
        for (int i = from; i < sql.length(); i++) {
            if (sql.charAt(i) == '\\') {
                i++;
            } else if (sql.charAt(i) == '\'') {
                int more = continuation(sql, i + 1);
                if (more < 0) {
                    return i + 1;
                }
                i = more;
            }
        }
        return NEVER_CLOSED;
    }

    /** The quote with which the same string goes on: the next character, or after blanks that hold a line end; -1 if it ends. */
    private static int continuation(String sql, int from) {
        boolean lineEnd = false;
        int i = from;
        while (i < sql.length() && " \t\f\u000b\r\n".indexOf(sql.charAt(i)) >= 0) {
            lineEnd |= sql.charAt(i) == '\n' || sql.charAt(i) == '\r';
            i++;
            if (lineEnd && sql.startsWith("--", i)) {
                i = lineEnd(sql, i);
            }
        }
        boolean quote = i < sql.length() && sql.charAt(i) == '\'';
        return quote && (lineEnd || i == from) ? i : -1;
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
        if (close >= sql.length() || sql.charAt(close) != '$' || isDigit(sql.charAt(at + 1))) {
            return at;
        }
        String tag = sql.substring(at, close + 1);
        int end = sql.indexOf(tag, close + 1);
        return end < 0 ? NEVER_CLOSED : end + tag.length();
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
        return NEVER_CLOSED;
    }

    /** A comment of one line ends where the text does, too: what is spliced in behind it begins with a line end. */
    private static int lineEnd(String sql, int at) {
        int i = at;
        while (i < sql.length() && sql.charAt(i) != '\n' && sql.charAt(i) != '\r') {
            i++;
        }
        return i;
    }

    /** Whether a character can continue an unquoted name. */
    public static boolean isNamePart(char c) {
        return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || isDigit(c) || c == '_' || c == '$' || c >= 0x80;
    }

    private static boolean isDigit(char c) {
        return c >= '0' && c <= '9';
    }
}
