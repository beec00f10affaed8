package dev.backfill.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Keys;
import dev.backfill.Pacing;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Items;
import dev.backfill.benchmarks.lab.Lab;
import dev.backfill.benchmarks.lab.Statistics;
import dev.backfill.benchmarks.report.Chart;
import dev.backfill.benchmarks.report.Findings;
import dev.backfill.benchmarks.report.Sheet;
import dev.backfill.benchmarks.rivals.Engines;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What a repair does to those who use the same table meanwhile. */
final class LiveTraffic implements Section {

    private static final int CLIENTS = 4;
    private static final int PER_SECOND = 50;
    private static final Pacing PACED = Pacing.unlimited().pauseRatio(4.0).targetBatchTime(Duration.ofMillis(10));

    private enum Mode {
        NONE("no repair"),
        PACED("paced repair"),
        UNPACED("unpaced repair");

        private final String label;

        Mode(String label) {
            this.label = label;
        }
    }

    private record Measured(double p50, double p99, double most, double repaired) {}

    @Override
    public String name() {
        return "live";
    }

    @Override
    public String size(Settings settings) {
        return String.format(
                "%,d rows, %d clients that update one random row %d times a second each, %d s, medians of %d interleaved runs",
                rows(settings), CLIENTS, PER_SECOND, settings.seconds(), settings.runs());
    }

    /** Enough that the fastest repair lasts as long as the traffic. */
    private static long rows(Settings settings) {
        return settings.seconds() * 300_000L;
    }

    @Override
    public Findings run(Lab lab, Settings settings) throws Exception {
        Map<Mode, List<Measured>> all = new EnumMap<>(Mode.class);
        for (int run = 0; run < settings.runs(); run++) {
            for (Mode mode : Mode.values()) {
                all.computeIfAbsent(mode, m -> new ArrayList<>()).add(measure(lab, settings, mode));
            }
        }
        Findings findings = Findings.of(name());
        Sheet sheet = findings.sheet(
                "Milliseconds of a live update, from when it was due",
                "meanwhile",
                "p50",
                "p99",
                "max",
                "p99 against none",
                "rows repaired/s");
        Chart chart = Chart.of("p99 of a live update", "ms, shorter is better");
        double none = Statistics.median(all.getOrDefault(Mode.NONE, List.of()), Measured::p99);
        for (Map.Entry<Mode, List<Measured>> entry : all.entrySet()) {
            List<Measured> runs = entry.getValue();
            double p99 = Statistics.median(runs, Measured::p99);
            sheet.add(
                    entry.getKey().label,
                    Statistics.median(runs, Measured::p50),
                    p99,
                    Statistics.median(runs, Measured::most),
                    p99 / none,
                    Math.rint(Statistics.median(runs, Measured::repaired)));
            chart.add(entry.getKey().label, p99, entry.getKey() != Mode.NONE);
        }
        findings.notes()
                .add(
                        "Paced: a rest of four times each batch, and batches of 10 ms at most. Clients, repair and server share the"
                                + " cores; an update is due at a fixed instant, whether the one before it has ended or not.");
        return findings.with(chart);
    }

    private static Measured measure(Lab lab, Settings settings, Mode mode) throws Exception {
        Database database = lab.items(rows(settings));
        try (HikariDataSource pool = database.pool(3)) {
            Backfills backfills = mode == Mode.NONE ? null : repair(pool, mode);
            try {
                double[] millis = new Traffic(database, rows(settings), CLIENTS, PER_SECOND).run(settings.seconds());
                if (backfills != null
                        && database.number("select count(*) from backfill where state = 'running'") == 0) {
                    throw new IllegalStateException("The repair had ended before the traffic did.");
                }
                return new Measured(
                        Statistics.percentile(millis, 0.5),
                        Statistics.percentile(millis, 0.99),
                        Statistics.percentile(millis, 1),
                        backfills == null
                                ? 0
                                : database.number("select rows_changed from backfill") / settings.seconds());
            } finally {
                close(backfills);
            }
        }
    }

    private static Backfills repair(HikariDataSource pool, Mode mode) throws Exception {
        BackfillDefinition<Long> definition = Backfill.define("items.live.v1")
                .over("items", Keys.bigint("id"))
                .batchSize(1_000)
                .repair(Repair.update().set("name_upper", Items.EXPRESSION).where(Items.NEEDED))
                .validate(Validation.noRowMatches(Items.NEEDED))
                .pacing(mode == Mode.PACED ? PACED : Pacing.unlimited())
                .build();
        Backfills backfills = Engines.open(
                pool, EngineOptions.builder().poll(Duration.ofMillis(50)).build(), definition);
        Engines.start(backfills, definition.id());
        return backfills;
    }

    private static void close(@Nullable Backfills backfills) {
        if (backfills != null) {
            backfills.close();
        }
    }
}
