package dev.backfill.benchmarks.lab;

import java.util.Collection;
import java.util.function.ToDoubleFunction;

/** Medians and percentiles. */
public final class Statistics {

    private Statistics() {}

    /** The median of one figure of several runs; NaN for none. */
    public static <T> double median(Collection<T> runs, ToDoubleFunction<T> figure) {
        return percentile(runs.stream().mapToDouble(figure).toArray(), 0.5);
    }

    /** The value below which that part of all values lies, between neighbours by straight line; NaN for none. */
    public static double percentile(double[] values, double part) {
        if (values.length == 0) {
            return Double.NaN;
        }
        double[] sorted = values.clone();
        java.util.Arrays.sort(sorted);
        double at = part * (sorted.length - 1);
        int below = (int) Math.floor(at);
        int above = (int) Math.ceil(at);
        return sorted[below] + (sorted[above] - sorted[below]) * (at - below);
    }
}
