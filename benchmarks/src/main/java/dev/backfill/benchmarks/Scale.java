package dev.backfill.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.BackfillDefinition;
import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Items;
import dev.backfill.benchmarks.lab.Lab;
import dev.backfill.benchmarks.lab.Meter.Cost;
import dev.backfill.benchmarks.lab.Meter;
import dev.backfill.benchmarks.lab.Statistics;
import dev.backfill.benchmarks.report.Chart;
import dev.backfill.benchmarks.report.Findings;
import dev.backfill.benchmarks.report.Sheet;
import dev.backfill.benchmarks.rivals.Engines;
import dev.backfill.benchmarks.rivals.Library;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import dev.backfill.spi.BackfillEvent.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** A family, several workers on disjoint ranges of one table, against a model of what two cores can give. */
final class Scale implements Section {

    private static final List<Contest> CONTESTS = List.of(
            new Contest(1, false),
            new Contest(2, false),
            new Contest(4, false),
            new Contest(8, false),
            new Contest(1, true),
            new Contest(2, true),
            new Contest(8, true));
    private static final int BATCH = 1_000;
    private static final double MICROS = 1e6;

    /** So many workers on as many ranges of one of two tables. */
    private record Contest(int members, boolean partitioned) {

        String table() {
            return partitioned ? "8 partitions" : "plain";
        }
    }

    @Override
    public String name() {
        return "scale";
    }

    @Override
    public String size(Settings settings) {
        return String.format(
                "%,d rows, batches of %,d, medians of %d interleaved runs", rows(settings), BATCH, settings.runs());
    }

    private static long rows(Settings settings) {
        return Math.max(settings.rows() / 2, 8 * BATCH);
    }

    @Override
    public Findings run(Lab lab, Settings settings) throws Exception {
        long rows = rows(settings);
        measure(lab, rows, CONTESTS.get(0));
        Map<Contest, List<Cost>> all = new LinkedHashMap<>();
        for (int run = 0; run < settings.runs(); run++) {
            for (Contest contest : CONTESTS) {
                Cost cost = measure(lab, rows, contest);
                all.computeIfAbsent(contest, c -> new ArrayList<>()).add(cost);
            }
        }
        return findings(rows, all);
    }

    private static Findings findings(long rows, Map<Contest, List<Cost>> all) {
        Findings findings = Findings.of("scale");
        Sheet sheet = findings.sheet(
                "A family on one table",
                "table",
                "key ranges and workers",
                "rows/s",
                "of one worker",
                "model, rows/s",
                "measured/model",
                "CPU µs/row",
                "cores busy");
        Chart chart = Chart.of("Rows per second with several workers on one table", "rows/s, longer is better");
        double one = Double.NaN;
        double cpuOfOne = Double.NaN;
        for (Map.Entry<Contest, List<Cost>> entry : all.entrySet()) {
            Contest contest = entry.getKey();
            double rate = Statistics.median(entry.getValue(), cost -> rows / cost.seconds());
            double cpu = Statistics.median(entry.getValue(), cost -> (cost.clientCpu() + cost.serverCpu()) / rows);
            if (contest.members() == 1) {
                one = rate;
                cpuOfOne = cpu;
            }
            double model =
                    Math.min(contest.members() * one, Runtime.getRuntime().availableProcessors() / cpuOfOne);
            sheet.add(
                    contest.table(),
                    contest.members(),
                    Math.rint(rate),
                    rate / one,
                    Math.rint(model),
                    rate / model,
                    cpu * MICROS,
                    cpu * rate);
            chart.add(contest.table() + ", " + contest.members(), rate, true);
        }
        notes(findings);
        return findings.with(chart);
    }

    private static void notes(Findings findings) {
        findings.notes()
                .add(
                        "The model: as many times one worker's rate as there are workers, but no more than all cores give at the CPU"
                                + " that one worker needs for a row, clients included.");
        findings.notes().add("One worker repairs the whole table without a family.");
    }

    private static Cost measure(Lab lab, long rows, Contest contest) throws Exception {
        Database database = contest.partitioned() ? lab.copy("parts_" + rows, parts(rows)) : lab.items(rows);
        BackfillDefinition<Long> whole = Library.definition("items.shared.v1", "items", Library.Style.SET, BATCH);
        List<BackfillDefinition<?>> definitions = new ArrayList<>();
        if (contest.members() == 1) {
            definitions.add(whole);
        } else {
            whole.inRanges(contest.members()).forEach(definitions::add);
        }
        EventTimes events = new EventTimes();
        EngineOptions options = EngineOptions.builder()
                .workers(contest.members())
                .poll(Duration.ofMillis(10))
                .build();
        try (HikariDataSource pool = database.pool(contest.members() + 3);
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
