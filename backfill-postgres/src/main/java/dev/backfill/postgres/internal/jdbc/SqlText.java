package dev.backfill.postgres.internal.jdbc;

import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads SQL just far enough to tell code from quoted text. */
public final class SqlText {

    /** Quoted strings, quoted identifiers, dollar quotes and comments: what holds no operator, parameter or command. */
    static final String QUOTED = "'(?:[^']|'')*'"
            + "|\"(?:[^\"]|\"\")*\""
            + "|\\$(?<tag>[A-Za-z_]*)\\$.*?\\$\\k<tag>\\$"
            + "|--[^\\n]*"
            + "|/\\*.*?\\*/";

    private static final Pattern QUOTED_OR_MARK = Pattern.compile("(?<quoted>" + QUOTED + ")|\\?", Pattern.DOTALL);
    private static final Pattern LEADING =
            Pattern.compile("^(?:\\s|;|--[^\\n]*(?:\\n|$)|/\\*.*?\\*/)*", Pattern.DOTALL);
    private static final Pattern QUOTED_PART = Pattern.compile(QUOTED, Pattern.DOTALL);

    private SqlText() {}

    /** Doubles each question mark outside quotes, so that JDBC takes it for the operator that its author meant. */
    public static String escapeOperators(String fragment) {
        return QUOTED_OR_MARK
                .matcher(fragment)
                .replaceAll(m -> Matcher.quoteReplacement(m.group(1) == null ? "??" : m.group()));
    }

    /** The text without leading blanks, semicolons and comments: what decides which command it is. */
    static String withoutLeadingNoise(String sql) {
        return LEADING.matcher(sql).replaceFirst("");
    }

    /** The text with everything quoted or commented taken out. */
    static String withoutQuoted(String sql) {
        return QUOTED_PART.matcher(sql).replaceAll(" ");
    }
}
