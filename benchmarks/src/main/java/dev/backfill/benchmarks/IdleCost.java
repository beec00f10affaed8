package dev.backfill.benchmarks;

import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Lab;
import dev.backfill.benchmarks.lab.Meter.Cost;
import dev.backfill.benchmarks.lab.Meter;
import dev.backfill.benchmarks.lab.Patience;
import dev.backfill.benchmarks.report.Findings;
import dev.backfill.benchmarks.report.Sheet;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;

/** What a fleet costs that has nothing to do. */
final class IdleCost implements Section {

    private static final int JVMS = 4;

    @Override
    public String name() {
        return "idle";
    }

    @Override
    public String size(Settings settings) {
        return String.format(
                "%,d engines with pools of their own in %d JVMs, %,d registered backfills, watched for %d s",
                settings.engines(), JVMS, settings.backfills(), settings.seconds());
    }

    @Override
    public Findings run(Lab lab, Settings settings) throws Exception {
        Findings findings = Findings.of(name());
        Database database = lab.items(1_000);
        List<Fork> forks = new ArrayList<>();
        try {
            for (int i = 0; i < JVMS; i++) {
                forks.add(Fork.of(
                        IdleHost.class,
                        List.of("-Xmx1g"),
                        database.url(),
                        Integer.toString(Math.max(settings.engines() / JVMS, 1)),
                        Integer.toString(settings.backfills())));
            }
            for (Fork fork : forks) {
                fork.await("up");
            }
            watch(lab, database, settings, forks, findings);
        } finally {
            for (Fork fork : forks) {
                fork.close();
            }
        }
        findings.notes()
                .add(
                        "One worker for each engine, default poll of 1 s give or take half; none of the backfills is started.");
        return findings;
    }

    private static void watch(Lab lab, Database database, Settings settings, List<Fork> forks, Findings findings)
            throws Exception {
        double before = forks.stream().mapToDouble(Fork::cpuSeconds).sum();
        Cost cost = new Meter(lab, database).of(() -> Patience.rest(Duration.ofSeconds(settings.seconds())));
        double clients = forks.stream().mapToDouble(Fork::cpuSeconds).sum() - before;
        Sheet sheet = findings.sheet(
                "A fleet at rest",
                "engines",
                "registered backfills",
                "statements/s",
                "statements/s of one engine",
                "buffers/statement",
                "server CPU, % of a core",
                "all clients' CPU, % of a core",
                "WAL bytes/s");
        int engines = Math.max(settings.engines() / JVMS, 1) * JVMS;
        sheet.add(
                engines,
                settings.backfills(),
                cost.statements() / cost.seconds(),
                cost.statements() / cost.seconds() / engines,
                cost.buffers() / Math.max(cost.statements(), 1),
                cost.serverCpu() / cost.seconds() * 100,
                clients / cost.seconds() * 100,
                Math.rint(cost.walBytes() / cost.seconds()));
    }
}
