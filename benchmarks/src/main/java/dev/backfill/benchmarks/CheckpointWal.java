package dev.backfill.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Keys;
import dev.backfill.Repair;
import dev.backfill.Validation;
import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Lab;
import dev.backfill.benchmarks.lab.Meter;
import dev.backfill.benchmarks.report.Findings;
import dev.backfill.benchmarks.report.Goal;
import dev.backfill.benchmarks.report.Sheet;
import dev.backfill.benchmarks.rivals.Engines;
import dev.backfill.host.BackfillWorker;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;

/** The WAL of the checkpoint alone: batches in which no row needs the repair, early ones against late ones. */
final class CheckpointWal {

    private static final long MOST_ROWS = 1_000_000;
    private static final int WARM_UP = 10;

    private CheckpointWal() {}

    static void measure(Lab lab, Settings settings, Findings findings) throws Exception {
        long rows = Math.min(settings.rows(), MOST_ROWS);
        Database database = lab.items(rows);
        BackfillDefinition<Long> definition = Backfill.define("items.none.v1")
                .over("items", Keys.bigint("id"))
                .batchSize(1_000)
                .repair(Repair.update().set("name_upper", "upper(name)").where("amount < 0"))
                .validate(Validation.noRowMatches("amount < 0"))
                .build();
        try (HikariDataSource pool = database.pool(3);
                Backfills backfills =
                        Engines.open(pool, EngineOptions.builder().workers(0).build(), definition)) {
            Engines.start(backfills, definition.id());
            try (BackfillWorker worker = backfills.worker("benchmark")) {
                step(worker, WARM_UP);
                int part = (int) (rows / 1_000 - WARM_UP) / 2;
                double early =
                        new Meter(lab, database).of(() -> step(worker, part)).walBytes() / part;
                double late =
                        new Meter(lab, database).of(() -> step(worker, part)).walBytes() / part;
                Sheet sheet = findings.sheet(
                        "WAL of a batch in which no row needs the repair", "part", "batches", "WAL bytes/batch");
                sheet.add("first half", part, early);
                sheet.add("second half", part, late);
                findings.goals()
                        .add(Goal.atMost("WAL of the checkpoint, second half against first", 1.1, late / early));
            }
        }
    }

    private static void step(BackfillWorker worker, int batches) {
        for (int i = 0; i < batches; i++) {
            Engines.batch(worker);
        }
    }
}
