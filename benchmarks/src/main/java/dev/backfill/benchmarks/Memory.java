package dev.backfill.benchmarks;

import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Lab;
import dev.backfill.benchmarks.report.Findings;
import dev.backfill.benchmarks.report.Goal;
import dev.backfill.benchmarks.report.Sheet;
import dev.backfill.benchmarks.rivals.Library;
import java.util.List;
import java.util.Locale;

/** Whether a worker's heap grows with the table, and what registered definitions weigh. */
final class Memory implements Section {

    private static final long FEW_ROWS = 100_000;
    private static final double MEGABYTE = 1e6;
    private static final List<String> SMALL_HEAP = List.of("-Xmx64m", "-XX:+UseSerialGC");

    @Override
    public String name() {
        return "memory";
    }

    @Override
    public String size(Settings settings) {
        return String.format(
                "%,d and %,d rows in JVMs with -Xmx64m; %,d definitions",
                FEW_ROWS, settings.memoryRows(), settings.backfills());
    }

    @Override
    public Findings run(Lab lab, Settings settings) throws Exception {
        Findings findings = Findings.of(name());
        Sheet sheet = findings.sheet(
                "Most heap that was live after a collection, -Xmx64m",
                "style",
                Sheet.shown(FEW_ROWS) + " rows, MB",
                Sheet.shown(settings.memoryRows()) + " rows, MB",
                "difference, MB");
        for (Library.Style style : Library.Style.values()) {
            double few = heap(lab.items(FEW_ROWS), "repair", style.key(), SMALL_HEAP);
            double many = heap(lab.items(settings.memoryRows()), "repair", style.key(), SMALL_HEAP);
            sheet.add(style.name().toLowerCase(Locale.ROOT), few, many, many - few);
            findings.goals()
                    .add(Goal.atMost("heap of the " + style.key() + " style, many rows against few", 1.25, many / few));
        }
        lab.forget("items_" + settings.memoryRows());
        double definitions = heap(
                lab.items(1_000),
                "register",
                Integer.toString(settings.backfills()),
                List.of("-Xmx512m", "-XX:+UseSerialGC"));
        Sheet registered = findings.sheet("Heap of registered definitions", "definitions", "MB");
        registered.add(settings.backfills(), definitions);
        findings.goals().add(Goal.atMost("MB of " + settings.backfills() + " registered definitions", 50, definitions));
        findings.notes()
                .add("Collections come at their own moments, so that two equal runs differ by a megabyte or two.");
        return findings;
    }

    private static double heap(Database database, String what, String of, List<String> options) throws Exception {
        try (Fork fork = Fork.of(HeapHost.class, options, what, database.url(), of)) {
            return Long.parseLong(fork.await("bytes")) / MEGABYTE;
        }
    }
}
