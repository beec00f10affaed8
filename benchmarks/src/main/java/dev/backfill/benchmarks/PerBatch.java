package dev.backfill.benchmarks;

import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Lab;
import dev.backfill.benchmarks.lab.Meter;
import dev.backfill.benchmarks.lab.Statistics;
import dev.backfill.benchmarks.rivals.Rival;
import dev.backfill.testkit.WireCounter;
import java.util.ArrayList;
import java.util.List;

/**
 * Statements and round trips of one batch, counted and not timed: a longer run less a shorter one, so that whatever happens once at
 * the start or the end cancels out.
 *
 * @param statements what the server ran, BEGIN and COMMIT included
 * @param roundTrips what the client waited for
 */
record PerBatch(double statements, double roundTrips) {

    private static final int FEW = 10;
    private static final int MORE = 30;
    private static final int COUNTS = 3;

    static PerBatch count(Lab lab, Rival rival, int batch) throws Exception {
        if (batch == 0) {
            return new PerBatch(1, 1);
        }
        List<PerBatch> counts = new ArrayList<>();
        for (int i = 0; i < (rival.ours() ? COUNTS : 1); i++) {
            PerBatch few = total(lab, rival, batch, FEW);
            PerBatch more = total(lab, rival, batch, MORE);
            counts.add(new PerBatch(
                    (more.statements - few.statements) / (MORE - FEW),
                    (more.roundTrips - few.roundTrips) / (MORE - FEW)));
        }
        // What this library does by the clock and not by the batch, a look at health signals, falls into some of them.
        return new PerBatch(
                Statistics.median(counts, PerBatch::statements), Statistics.median(counts, PerBatch::roundTrips));
    }

    private static PerBatch total(Lab lab, Rival rival, int batch, int batches) throws Exception {
        Database direct = lab.items((long) batch * batches);
        try (WireCounter wire = new WireCounter(direct.url());
                Rival.Ready ready = rival.prepare(new Database(wire.url()), batch)) {
            long before = wire.roundTrips();
            double statements = new Meter(lab, direct).of(ready::run).statements();
            return new PerBatch(statements, wire.roundTrips() - before);
        }
    }
}
