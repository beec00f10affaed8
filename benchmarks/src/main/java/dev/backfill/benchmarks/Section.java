package dev.backfill.benchmarks;

import dev.backfill.benchmarks.lab.Lab;
import dev.backfill.benchmarks.report.Findings;

/** One question that is answered by measuring. */
interface Section {

    /** Its name in {@code -Dbenchmark=}. */
    String name();

    /** At which size it would be measured, for people. */
    String size(Settings settings);

    /** Measures. */
    Findings run(Lab lab, Settings settings) throws Exception;
}
