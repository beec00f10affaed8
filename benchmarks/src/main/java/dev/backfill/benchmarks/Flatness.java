package dev.backfill.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.BackfillDefinition;
import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Lab;
import dev.backfill.benchmarks.lab.Meter.Cost;
import dev.backfill.benchmarks.lab.Meter;
import dev.backfill.benchmarks.lab.Statistics;
import dev.backfill.benchmarks.report.Findings;
import dev.backfill.benchmarks.report.Goal;
import dev.backfill.benchmarks.report.Sheet;
import dev.backfill.benchmarks.rivals.Engines;
import dev.backfill.benchmarks.rivals.Library;
import dev.backfill.host.BackfillWorker;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.Function;

/** Whether the last batches of a long repair cost more than the first, and what many batches leave behind. */
final class Flatness implements Section {

    private static final int BATCH = 1_000;
    private static final int SETTLING = 10;
    private static final double MILLIS = 1e6;
    private static final String OWN_TABLES = "from pg_stat_user_tables where relname like 'backfill%'";

    /** A part of the walk: the times of its batches, and what all of them cost together. */
    private record Part(int batches, double median, double p95, Cost cost) {

        /** Times are those without the first few of a new connection, which plans and prepares. */
        static Part of(double[] millis, Cost cost) {
            double[] settled =
                    millis.length > 2 * SETTLING ? Arrays.copyOfRange(millis, SETTLING, millis.length) : millis;
            return new Part(
                    millis.length, Statistics.percentile(settled, 0.5), Statistics.percentile(settled, 0.95), cost);
        }

        double buffers() {
            return cost.buffers() / batches;
        }
    }

    private record Walk(Part first, Part middle, Part last) {}

    @Override
    public String name() {
        return "flatness";
    }

    @Override
    public String size(Settings settings) {
        return String.format(
                "%,d rows in batches of %,d, medians of %d walks; %,d batches of one row",
                settings.flatRows(), BATCH, settings.runs(), settings.flatBatches());
    }

    @Override
    public Findings run(Lab lab, Settings settings) throws Exception {
        Findings findings = Findings.of(name());
        warmUp(lab);
        walks(lab, settings, findings);
        lab.forget("items_" + settings.flatRows());
        manyBatches(lab, settings, findings);
        return findings;
    }

    private static void warmUp(Lab lab) throws Exception {
        Database small = lab.items(200_000);
        BackfillDefinition<Long> definition = Library.definition("items.warm.v1", "items", Library.Style.SET, BATCH);
        steps(lab, small, definition, 150, true);
    }

    private static Walk walk(Lab lab, Settings settings) throws Exception {
        Database database = lab.items(settings.flatRows());
        int all = (int) (settings.flatRows() / BATCH);
        int percentile = Math.max(all / 100, 5);
        BackfillDefinition<Long> definition = Library.definition("items.flat.v1", "items", Library.Style.SET, BATCH);
        return new Walk(
                steps(lab, database, definition, percentile, true),
                steps(lab, database, definition, all - 2 * percentile, false),
                steps(lab, database, definition, percentile, false));
    }

    private static void walks(Lab lab, Settings settings, Findings findings) throws Exception {
        List<Walk> walks = new ArrayList<>();
        for (int run = 0; run < settings.runs(); run++) {
            walks.add(walk(lab, settings));
        }
        Sheet sheet = findings.sheet(
                "Cost of a batch of 1,000 rows along the way",
                "part",
                "batches",
                "median ms",
                "p95 ms",
                "buffers/batch",
                "WAL bytes/batch");
        add(sheet, "first percentile", walks, Walk::first);
        add(sheet, "between", walks, Walk::middle);
        add(sheet, "last percentile", walks, Walk::last);
        findings.goals()
                .add(Goal.atMost(
                        "time of a batch, last percentile against first",
                        1.1,
                        Statistics.median(
                                walks,
                                walk -> walk.last().median() / walk.first().median())));
        findings.goals()
                .add(Goal.atMost(
                        "buffers of a batch, last percentile against first",
                        1.1,
                        Statistics.median(
                                walks,
                                walk -> walk.last().buffers() / walk.first().buffers())));
        findings.notes()
                .add("The table is not vacuumed on the way, so every repaired row leaves its old version behind.");
    }

    private static void add(Sheet sheet, String label, List<Walk> walks, Function<Walk, Part> of) {
        List<Part> parts = walks.stream().map(of).toList();
        sheet.add(
                label,
                parts.get(0).batches(),
                Statistics.median(parts, Part::median),
                Statistics.median(parts, Part::p95),
                Statistics.median(parts, Part::buffers),
                Math.rint(Statistics.median(parts, part -> part.cost().walBytes() / part.batches())));
    }

    /** A number of batches on connections of their own, so that each part plans and prepares alike. */
    private static Part steps(
            Lab lab, Database database, BackfillDefinition<Long> definition, int batches, boolean start)
            throws Exception {
        double[] millis = new double[batches];
        try (HikariDataSource pool = database.pool(3);
                Backfills backfills =
                        Engines.open(pool, EngineOptions.builder().workers(0).build(), definition)) {
            if (start) {
                Engines.start(backfills, definition.id());
            }
            try (BackfillWorker worker = backfills.worker("benchmark")) {
                Cost cost = new Meter(lab, database).of(() -> {
                    for (int i = 0; i < batches; i++) {
                        long began = System.nanoTime();
                        Engines.batch(worker);
                        millis[i] = (System.nanoTime() - began) / MILLIS;
                    }
                });
                return Part.of(millis, cost);
            }
        }
    }

    private static void manyBatches(Lab lab, Settings settings, Findings findings) throws Exception {
        Database database = lab.items(settings.flatBatches());
        Database hasty = new Database(database.url() + "&options=-c%20synchronous_commit=off");
        BackfillDefinition<Long> definition = Library.definition("items.tiny.v1", "items", Library.Style.SET, 1);
        Sheet sheet = findings.sheet(
                "The library's own tables after many batches",
                "batches",
                "size of the row's table, bytes",
                "size of all own tables, bytes",
                "dead tuples",
                "ms/batch");
        int part = (int) (settings.flatBatches() / 4);
        for (int i = 0; i < 4; i++) {
            Part done = steps(lab, hasty, definition, part, i == 0);
            sheet.add(
                    (long) part * (i + 1),
                    database.number("select pg_total_relation_size('backfill')"),
                    database.number("select sum(pg_total_relation_size(relid)) " + OWN_TABLES),
                    database.number("select sum(n_dead_tup) " + OWN_TABLES),
                    done.median());
        }
        findings.notes()
                .add(
                        "Many batches ran with synchronous_commit off, to have more of them in the same time; that changes their"
                                + " duration, not what they leave behind.");
    }
}
