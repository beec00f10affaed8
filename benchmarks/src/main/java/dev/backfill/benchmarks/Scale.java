package dev.backfill.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillEvent.Kind;
import dev.backfill.Backfills;
import dev.backfill.EngineOptions;
import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Items;
import dev.backfill.benchmarks.lab.Lab;
import dev.backfill.benchmarks.lab.Meter;
import dev.backfill.benchmarks.lab.Meter.Cost;
import dev.backfill.benchmarks.lab.Statistics;
import dev.backfill.benchmarks.report.Chart;
import dev.backfill.benchmarks.report.Findings;
import dev.backfill.benchmarks.report.Sheet;
import dev.backfill.benchmarks.rivals.Engines;
import dev.backfill.benchmarks.rivals.Library;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** Several workers on disjoint parts of one table, against a model of what two cores can give. */
final class Scale implements Section {

    private static final int[] MEMBERS = {1, 2, 4, 8};
    private static final int BATCH = 1_000;
    private static final double MICROS = 1e6;

    @Override
    public String name() {
        return "scale";
    }

    @Override
    public String size(Settings settings) {
        return String.format(
                "%,d rows in 8 partitions, batches of %,d, medians of %d interleaved runs",
                rows(settings), BATCH, settings.runs());
    }

    private static long rows(Settings settings) {
        return Math.max(settings.rows() / 2, 8 * BATCH);
    }

    @Override
    public Findings run(Lab lab, Settings settings) throws Exception {
        Findings findings = Findings.of(name());
        Sheet sheet = findings.sheet(
                "Workers at once",
                "workers",
                "rows/s",
                "of one worker",
                "model, rows/s",
                "measured/model",
                "CPU µs/row",
                "cores busy");
        Chart chart = Chart.of("Rows per second with several workers on one table", "rows/s, longer is better");
        long rows = rows(settings);
        measure(lab, rows, 8);
        Map<Integer, List<Cost>> all = new TreeMap<>();
        for (int run = 0; run < settings.runs(); run++) {
            for (int members : MEMBERS) {
                all.computeIfAbsent(members, m -> new ArrayList<>()).add(measure(lab, rows, members));
            }
        }
        double one = Double.NaN;
        double cpuOfOne = Double.NaN;
        for (Map.Entry<Integer, List<Cost>> entry : all.entrySet()) {
            int members = entry.getKey();
            double rate = Statistics.median(entry.getValue(), cost -> rows / cost.seconds());
            double cpu = Statistics.median(entry.getValue(), cost -> (cost.clientCpu() + cost.serverCpu()) / rows);
            if (members == 1) {
                one = rate;
                cpuOfOne = cpu;
            }
            double model = Math.min(members * one, Runtime.getRuntime().availableProcessors() / cpuOfOne);
            sheet.add(members, Math.rint(rate), rate / one, Math.rint(model), rate / model, cpu * MICROS, cpu * rate);
            chart.add(members + (members == 1 ? " worker" : " workers"), rate, true);
        }
        findings.notes()
                .add(
                        "The model: as many times one worker's rate as there are workers, but no more than all cores give at the CPU"
                                + " that one worker needs for a row, clients included.");
        return findings.with(chart);
    }

    /** The table has eight parts each time; a member takes one after the other of its share. */
    private static Cost measure(Lab lab, long rows, int workers) throws Exception {
        Database database = lab.copy("parts_" + rows, parts(rows));
        List<BackfillDefinition<?>> definitions = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            definitions.add(Library.definition("items.part." + i, "items_" + i, Library.Style.SET, BATCH));
        }
        EventTimes events = new EventTimes();
        EngineOptions options = EngineOptions.builder()
                .workers(workers)
                .poll(Duration.ofMillis(10))
                .build();
        try (HikariDataSource pool = database.pool(workers + 3);
                Backfills backfills = Engines.open(pool, options, events, definitions)) {
            return new Meter(lab, database).of(() -> {
                for (BackfillDefinition<?> definition : definitions) {
                    Engines.start(backfills, definition.id());
                }
                for (BackfillDefinition<?> definition : definitions) {
                    events.first(Kind.VALIDATING, definition.id(), 0);
                }
            });
        }
    }

    private static String[] parts(long rows) {
        List<String> statements = new ArrayList<>();
        String[] whole = Items.of(rows);
        statements.add(whole[0].replaceFirst(" with \\(.*$", " partition by range (id)"));
        long each = (rows + 7) / 8;
        for (int i = 0; i < 8; i++) {
            statements.add("create table items_" + i + " partition of items for values from (" + (i * each + 1)
                    + ") to (" + ((i + 1) * each + 1) + ") with (autovacuum_enabled = off)");
        }
        statements.add(whole[1]);
        statements.add(whole[2]);
        return statements.toArray(String[]::new);
    }
}
