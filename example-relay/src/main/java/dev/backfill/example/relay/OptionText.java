package dev.backfill.example.relay;

import java.nio.file.InvalidPathException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Reads option values; a broken one is an {@link IllegalArgumentException} with the rule, to be put after the option's name. */
final class OptionText {

    private static final Pattern DURATION = Pattern.compile("(\\d{1,9})(ms|s|m|h)");
    private static final Pattern TOKEN = Pattern.compile("[\\x21-\\x7E]{8,200}");

    private OptionText() {}

    static Duration duration(String text) {
        Matcher parts = DURATION.matcher(text);
        if (!parts.matches()) {
            throw new IllegalArgumentException("must be a duration such as 250ms, 3s or 1m, got '" + text + "'");
        }
        long amount = Long.parseLong(parts.group(1));
        return switch (parts.group(2)) {
            case "ms" -> Duration.ofMillis(amount);
            case "s" -> Duration.ofSeconds(amount);
            case "m" -> Duration.ofMinutes(amount);
            default -> Duration.ofHours(amount);
        };
    }

    static int number(String text, int min, int max) {
        try {
            int number = Integer.parseInt(text);
            if (number >= min && number <= max) {
                return number;
            }
        } catch (NumberFormatException e) {
            // falls through to the rule
        }
        throw new IllegalArgumentException(
                "must be a whole number from " + min + " to " + max + ", got '" + text + "'");
    }

    static boolean onOff(String text) {
        return switch (text) {
            case "on" -> true;
            case "off" -> false;
            default -> throw new IllegalArgumentException("must be on or off, got '" + text + "'");
        };
    }

    static Path path(String text) {
        try {
            if (!text.isBlank()) {
                return Path.of(text).toAbsolutePath().normalize();
            }
        } catch (InvalidPathException e) {
            // falls through to the rule
        }
        throw new IllegalArgumentException("must be a path");
    }

    // The values of these two are secrets, or hold one: they stay out of the message.

    static String jdbcUrl(String text) {
        if (!text.startsWith("jdbc:postgresql:")) {
            throw new IllegalArgumentException(
                    "must start with jdbc:postgresql: (the value is not shown: it may hold a password)");
        }
        return text;
    }

    static String token(String text) {
        if (!TOKEN.matcher(text).matches()) {
            throw new IllegalArgumentException(
                    "must be 8 to 200 visible ASCII characters without spaces (the value is not shown)");
        }
        return text;
    }
}
