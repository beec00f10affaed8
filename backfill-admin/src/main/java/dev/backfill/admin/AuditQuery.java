package dev.backfill.admin;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Which page of the audit is asked for.
 *
 * @param limit how many records
 * @param before only records with a smaller number; null for the newest
 */
record AuditQuery(int limit, @Nullable Long before) {

    private static final int DEFAULT_LIMIT = 50;
    private static final int MAX_QUERY = 2 * 1024;
    private static final int MAX_LIMIT = 200;
    private static final Pattern DIGITS = Pattern.compile("[0-9]{1,18}");

    /** Reads a raw query string; parameters of other names are left alone. */
    static AuditQuery of(@Nullable String rawQuery) {
        if (rawQuery != null && rawQuery.length() > MAX_QUERY) {
            throw Problem.badRequest("invalid_query", "The query must have at most " + MAX_QUERY + " characters.");
        }
        String limit = single(rawQuery, "limit");
        String before = single(rawQuery, "before");
        return new AuditQuery(
                limit == null ? DEFAULT_LIMIT : (int) number("limit", limit, MAX_LIMIT),
                before == null ? null : number("before", before, Long.MAX_VALUE));
    }

    private static @Nullable String single(@Nullable String rawQuery, String name) {
        String found = null;
        for (String pair : rawQuery == null ? new String[0] : rawQuery.split("&", -1)) {
            int equals = pair.indexOf('=');
            if (decoded(equals < 0 ? pair : pair.substring(0, equals)).equals(name)) {
                if (found != null) {
                    throw Problem.badRequest("invalid_query", "The parameter '" + name + "' is given more than once.");
                }
                found = equals < 0 ? "" : decoded(pair.substring(equals + 1));
            }
        }
        return found;
    }

    private static String decoded(String raw) {
        try {
            return URLDecoder.decode(raw, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw Problem.badRequest("invalid_query", "The query holds a broken percent sequence.");
        }
    }

    private static long number(String name, String text, long max) {
        if (DIGITS.matcher(text).matches()) {
            long value = Long.parseLong(text);
            if (value >= 1 && value <= max) {
                return value;
            }
        }
        throw Problem.badRequest(
                "invalid_query",
                "The parameter '" + name + "' must be a whole number from 1"
                        + (max < Long.MAX_VALUE ? " to " + max : "") + ".");
    }
}
