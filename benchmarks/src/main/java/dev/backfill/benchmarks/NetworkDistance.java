package dev.backfill.benchmarks;

import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Lab;
import dev.backfill.benchmarks.lab.Meter;
import dev.backfill.benchmarks.report.Findings;
import dev.backfill.benchmarks.report.Sheet;
import dev.backfill.benchmarks.rivals.Rival;
import dev.backfill.testkit.FaultProxy;
import java.time.Duration;
import java.util.List;

/** The same repair when the server is further away. */
final class NetworkDistance implements Section {

    private static final int BATCH = 1_000;
    private static final double[] MILLIS = {0, 0.5, 2, 10};
    private static final List<String> RIVALS = List.of("hand", "keyset", "tasklet", "chunk", "set", "row", "custom");

    @Override
    public String name() {
        return "distance";
    }

    @Override
    public String size(Settings settings) {
        return String.format("%,d rows in batches of %,d, one run each", rows(settings), BATCH);
    }

    private static long rows(Settings settings) {
        return Math.max(settings.rows() / 20, BATCH * 5);
    }

    @Override
    public Findings run(Lab lab, Settings settings) throws Exception {
        Findings findings = Findings.of(name());
        Sheet sheet = findings.sheet(
                "Rows per second with a round-trip time added",
                "way",
                "0 ms",
                "0.5 ms",
                "2 ms",
                "10 ms",
                "ms/batch at 10 ms");
        for (String key : RIVALS) {
            if (settings.hasRival(key)) {
                Rival rival = Rival.of(key);
                double[] rates = new double[MILLIS.length];
                for (int i = 0; i < rates.length; i++) {
                    rates[i] = rate(lab, rival, rows(settings), MILLIS[i]);
                }
                sheet.add(
                        rival.name(),
                        Math.rint(rates[0]),
                        Math.rint(rates[1]),
                        Math.rint(rates[2]),
                        Math.rint(rates[3]),
                        perBatch(lab, rival, settings));
            }
        }
        findings.notes()
                .add(
                        "Rates include what happens once: this library's checks before a start are some dozens of round trips. The last"
                                + " column does not: it is a longer run less a shorter one.");
        findings.notes().add("All go through the same proxy on this machine, which also costs something at 0 ms.");
        return findings;
    }

    /** A longer run less a shorter one, so that what happens once, at the start, cancels out. */
    private static double perBatch(Lab lab, Rival rival, Settings settings) throws Exception {
        long few = BATCH * 5L;
        long more = rows(settings) + few;
        double farthest = MILLIS[MILLIS.length - 1];
        double seconds = more / rate(lab, rival, more, farthest) - few / rate(lab, rival, few, farthest);
        return seconds * 1000 / ((more - few) / (double) BATCH);
    }

    private static double rate(Lab lab, Rival rival, long rows, double millis) throws Exception {
        Database direct = lab.items(rows);
        try (FaultProxy proxy = FaultProxy.before(direct.url())) {
            proxy.delayEachWay(Duration.ofNanos((long) (millis * 500_000)));
            try (Rival.Ready ready = rival.prepare(new Database(proxy.jdbcUrl()), BATCH)) {
                return rows / new Meter(lab, direct).of(ready::run).seconds();
            }
        }
    }
}
