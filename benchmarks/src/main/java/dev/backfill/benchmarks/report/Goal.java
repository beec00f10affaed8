package dev.backfill.benchmarks.report;

import java.util.Locale;

/**
 * What was hoped for, and what came out. Reported, never asserted.
 *
 * @param text what is compared
 * @param atLeast whether the limit is a lower one
 * @param limit the limit
 * @param measured what came out; NaN where it could not be measured
 * @since 0.1
 */
public record Goal(String text, boolean atLeast, double limit, double measured) {

    /** A lower limit. */
    public static Goal atLeast(String text, double limit, double measured) {
        return new Goal(text, true, limit, measured);
    }

    /** An upper limit. */
    public static Goal atMost(String text, double limit, double measured) {
        return new Goal(text, false, limit, measured);
    }

    /** Whether it was reached; an unknown figure reaches nothing. */
    public boolean reached() {
        return atLeast ? measured >= limit : measured <= limit;
    }

    /** As one line. */
    public String line() {
        return String.format(
                Locale.ROOT,
                "%s: %s (goal: %s %s) – %s",
                text,
                Sheet.shown(measured),
                atLeast ? "at least" : "at most",
                Sheet.shown(limit),
                Double.isNaN(measured) ? "not measured" : reached() ? "reached" : "**missed**");
    }
}
