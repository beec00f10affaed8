package dev.backfill.benchmarks;

import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Lab;
import dev.backfill.benchmarks.lab.Meter.Cost;
import dev.backfill.benchmarks.lab.Meter;
import dev.backfill.benchmarks.lab.Statistics;
import dev.backfill.benchmarks.report.Chart;
import dev.backfill.benchmarks.report.Findings;
import dev.backfill.benchmarks.report.Goal;
import dev.backfill.benchmarks.report.Sheet;
import dev.backfill.benchmarks.rivals.Rival;
import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The same repair by a bare statement, by hand, by other libraries and by this one. */
final class Overhead implements Section {

    private static final int[] BATCH_SIZES = {1_000, 5_000};
    private static final long WARM_UP_ROWS = 200_000;
    private static final List<String> SLOW = List.of("chunk", "db-scheduler");
    private static final double MICROS = 1e6;

    /** One way at one batch size; 0 for none. */
    private record Contest(Rival rival, int batch) {

        String label() {
            return batch == 0 ? rival.name() : rival.name() + ", " + Sheet.shown(batch);
        }

        /** The slowest get a part of the table: their rate is the same, and the others need the time. */
        long rows(long all) {
            return SLOW.contains(rival.key()) ? Math.max(all / 4, batch) : all;
        }
    }

    @Override
    public String name() {
        return "overhead";
    }

    @Override
    public String size(Settings settings) {
        return String.format("%,d rows, medians of %d interleaved runs", settings.rows(), settings.runs());
    }

    @Override
    public Findings run(Lab lab, Settings settings) throws Exception {
        List<Contest> contests = contests(settings);
        for (Contest contest : contests) {
            measure(lab, contest, contest.rows(Math.min(settings.rows(), WARM_UP_ROWS)));
        }
        Map<Contest, List<Cost>> costs = new LinkedHashMap<>();
        // In the order of the table, whatever the order of the runs.
        contests.forEach(contest -> costs.put(contest, new ArrayList<>()));
        for (int run = 0; run < settings.runs(); run++) {
            List<Contest> order = new ArrayList<>(contests);
            // Each in another neighbourhood, so that a slow minute of the machine is not always the same one's.
            Collections.rotate(order, run * contests.size() / settings.runs());
            for (Contest contest : order) {
                Cost cost = measure(lab, contest, contest.rows(settings.rows()));
                costs.computeIfAbsent(contest, c -> new ArrayList<>()).add(cost);
            }
        }
        return findings(lab, settings, costs);
    }

    private static List<Contest> contests(Settings settings) {
        List<Contest> contests = new ArrayList<>();
        for (Rival rival : Rival.all()) {
            if (settings.hasRival(rival.key())) {
                if (!rival.batched()) {
                    contests.add(new Contest(rival, 0));
                    continue;
                }
                for (int batch : BATCH_SIZES) {
                    contests.add(new Contest(rival, batch));
                }
            }
        }
        return contests;
    }

    private static Cost measure(Lab lab, Contest contest, long rows) throws Exception {
        Database database = lab.items(rows);
        try (Rival.Ready ready = contest.rival().prepare(database, Math.max(contest.batch(), 1))) {
            Cost cost = new Meter(lab, database).of(ready::run);
            double left = database.number("select count(*) from items where name_upper is distinct from upper(name)");
            if (left > 0) {
                throw new IllegalStateException(contest.label() + " left " + left + " rows unrepaired.");
            }
            return cost;
        }
    }

    private static Findings findings(Lab lab, Settings settings, Map<Contest, List<Cost>> costs) throws Exception {
        Findings findings = Findings.of("overhead");
        Sheet sheet = findings.sheet(
                "Repairing one column",
                "way",
                "batch",
                "rows/s",
                "of hand-written",
                "spread %",
                "client CPU µs/row",
                "server CPU µs/row",
                "statements/batch",
                "round trips/batch",
                "WAL bytes/row");
        Chart chart = Chart.of("The same repair, rows per second", "rows/s, longer is better");
        double ourRoundTrips = Double.NaN;
        for (Contest contest : costs.keySet()) {
            PerBatch perBatch = PerBatch.count(lab, contest.rival(), contest.batch());
            if (contest.rival().key().equals("set") && contest.batch() == BATCH_SIZES[0]) {
                ourRoundTrips = perBatch.roundTrips();
            }
            double rate = add(sheet, contest, perBatch, settings, costs);
            chart.add(contest.label(), rate, contest.rival().ours());
        }
        goals(findings, settings, costs, ourRoundTrips);
        CheckpointWal.measure(lab, settings, findings);
        findings.notes()
                .add(
                        "`of hand-written` compares with the bare hand-written loop (ranges of IDs without gaps) of the same batch"
                                + " size, run by run; the keyset loop does what a table with gaps needs.");
        findings.notes()
                .add(
                        "The chunk step and db-scheduler repair a quarter of the rows; their rate does not depend on the number.");
        findings.notes()
                .add(
                        "A fraction of a round trip is what happens by the clock and not by the batch: a look at health signals.");
        return findings.with(chart);
    }

    private static double add(
            Sheet sheet, Contest contest, PerBatch perBatch, Settings settings, Map<Contest, List<Cost>> costs) {
        List<Cost> runs = costs.getOrDefault(contest, List.of());
        long rows = contest.rows(settings.rows());
        double rate = Statistics.median(runs, cost -> rows / cost.seconds());
        sheet.add(
                contest.rival().name(),
                contest.batch() == 0 ? (Object) "all" : contest.batch(),
                Math.rint(rate),
                ratio(costs, settings, contest.rival().key(), "hand", contest.batch()),
                spread(runs),
                Statistics.median(runs, cost -> cost.clientCpu() / rows * MICROS),
                Statistics.median(runs, cost -> cost.serverCpu() / rows * MICROS),
                perBatch.statements(),
                perBatch.roundTrips(),
                Math.rint(Statistics.median(runs, cost -> cost.walBytes() / rows)));
        return rate;
    }

    private static double spread(List<Cost> runs) {
        double[] seconds = runs.stream().mapToDouble(Cost::seconds).toArray();
        return (Statistics.percentile(seconds, 1) / Statistics.percentile(seconds, 0) - 1) * 100;
    }

    /** The median of the runs' ratios of rates: what ran side by side is compared. */
    private static double ratio(
            Map<Contest, List<Cost>> costs, Settings settings, String one, String other, int batch) {
        List<Double> ratios = new ArrayList<>();
        List<Double> rates = rates(costs, settings, one, batch);
        List<Double> others = rates(costs, settings, other, batch);
        for (int i = 0; i < Math.min(rates.size(), others.size()); i++) {
            ratios.add(rates.get(i) / others.get(i));
        }
        return Statistics.median(ratios, Double::doubleValue);
    }

    private static List<Double> rates(Map<Contest, List<Cost>> costs, Settings settings, String key, int batch) {
        return costs.entrySet().stream()
                .filter(entry -> entry.getKey().rival().key().equals(key))
                .filter(entry -> entry.getKey().batch() == batch
                        || !entry.getKey().rival().batched())
                .flatMap(entry ->
                        entry.getValue().stream().map(cost -> entry.getKey().rows(settings.rows()) / cost.seconds()))
                .toList();
    }

    private static void goals(Findings findings, Settings settings, Map<Contest, List<Cost>> costs, double roundTrips) {
        List<Goal> goals = findings.goals();
        goals.add(Goal.atLeast(
                "set style against hand-written loop, 1,000", 0.97, ratio(costs, settings, "set", "hand", 1_000)));
        goals.add(Goal.atLeast(
                "set style against hand-written loop, 5,000", 0.98, ratio(costs, settings, "set", "hand", 5_000)));
        for (int batch : BATCH_SIZES) {
            String at = ", " + Sheet.shown(batch);
            goals.add(Goal.atLeast(
                    "set style against hand-written keyset loop" + at,
                    1,
                    ratio(costs, settings, "set", "keyset", batch)));
            goals.add(Goal.atLeast(
                    "set style against single UPDATE" + at, 0.85, ratio(costs, settings, "set", "update", batch)));
            goals.add(Goal.atLeast(
                    "Java function against Spring Batch chunk step" + at,
                    1.6,
                    ratio(costs, settings, "row", "chunk", batch)));
        }
        goals.add(Goal.atMost("round trips of a set batch", 3, roundTrips));
    }
}
