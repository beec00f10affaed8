package dev.backfill.admin;

import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * The parameters of a query string. Parameters of other names are left alone.
 *
 * @param raw as it came; null for none
 */
record Query(@Nullable String raw) {

    private static final int MAX = 2 * 1024;
    private static final Pattern DIGITS = Pattern.compile("[0-9]{1,18}");

    /** Checks the length. */
    Query {
        if (raw != null && raw.length() > MAX) {
            throw bad("The query must have at most " + MAX + " characters.");
        }
    }

    /** Every value of a parameter. */
    List<String> all(String name) {
        List<String> found = new ArrayList<>();
        for (String pair : raw == null ? new String[0] : raw.split("&", -1)) {
            int equals = pair.indexOf('=');
            if (decoded(equals < 0 ? pair : pair.substring(0, equals)).equals(name)) {
                found.add(equals < 0 ? "" : decoded(pair.substring(equals + 1)));
            }
        }
        return found;
    }

    /** The value of a parameter that may be given once; null if it is not. */
    @Nullable
    String one(String name) {
        List<String> found = all(name);
        if (found.size() > 1) {
            throw bad("The parameter '" + name + "' is given more than once.");
        }
        return found.isEmpty() ? null : found.get(0);
    }

    /** A whole number from 1 on; null if it is not given. */
    @Nullable
    Long number(String name, long max) {
        String text = one(name);
        if (text == null) {
            return null;
        }
        if (DIGITS.matcher(text).matches()) {
            long value = Long.parseLong(text);
            if (value >= 1 && value <= max) {
                return value;
            }
        }
        throw bad("The parameter '" + name + "' must be a whole number from 1"
                + (max < Long.MAX_VALUE ? " to " + max : "") + ".");
    }

    static Problem bad(String detail) {
        return Problem.badRequest("invalid_query", detail);
    }

    private static String decoded(String raw) {
        try {
            return URLDecoder.decode(raw, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw bad("The query holds a broken percent sequence.");
        }
    }
}
