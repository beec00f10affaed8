package dev.backfill.benchmarks;

import com.zaxxer.hikari.HikariDataSource;
import dev.backfill.BackfillDefinition;
import dev.backfill.benchmarks.lab.Database;
import dev.backfill.benchmarks.lab.Items;
import dev.backfill.benchmarks.lab.Lab;
import dev.backfill.benchmarks.lab.Patience;
import dev.backfill.benchmarks.lab.Statistics;
import dev.backfill.benchmarks.report.Findings;
import dev.backfill.benchmarks.report.Sheet;
import dev.backfill.benchmarks.rivals.Engines;
import dev.backfill.benchmarks.rivals.Library;
import dev.backfill.host.Backfills;
import dev.backfill.host.EngineOptions;
import dev.backfill.operate.BackfillAction;
import dev.backfill.spi.BackfillEvent.Kind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;

/** How long it takes until something that was asked for, or that broke, has its effect. */
final class Latency implements Section {

    private static final Duration LEASE = Duration.ofSeconds(2);
    private static final Duration POLL = Duration.ofMillis(200);
    private static final long ROWS = 1_000_000;
    private static final double MILLIS = 1e6;

    private final Random random = new Random(7);

    @Override
    public String name() {
        return "latency";
    }

    @Override
    public String size(Settings settings) {
        return settings.kills() + " of each, batches of 20 ms";
    }

    /** Options of a host whose claims lapse soon. */
    static EngineOptions options(Duration lease) {
        return EngineOptions.builder()
                .scaledToLease(lease)
                .poll(POLL)
                .workers(1)
                .build();
    }

    @Override
    public Findings run(Lab lab, Settings settings) throws Exception {
        Findings findings = Findings.of(name());
        Sheet sheet =
                findings.sheet("Milliseconds until it had its effect", "what", "times", "p50 ms", "p99 ms", "max ms");
        Database database = lab.copy("latency", Items.of(ROWS));
        List<Double> takeovers = takeovers(database, settings.kills());
        add(sheet, "takeover after SIGKILL, lease 2 s, poll 200 ms ± half", takeovers);
        List<Double> answered = new ArrayList<>();
        List<Double> stopped = new ArrayList<>();
        pauses(database, settings.kills(), answered, stopped);
        add(sheet, "pause: request to answer (claim gone, work fenced)", answered);
        add(sheet, "pause: request to the worker's own word that it stopped", stopped);
        add(sheet, "close: call to return, claim released", closes(database, settings.kills()));
        add(
                sheet,
                "start, in the worker's process: request to first committed batch",
                starts(lab, settings.kills(), 1));
        add(
                sheet,
                "start, in another process: request to first committed batch, poll 1 s ± half",
                starts(lab, settings.kills(), 0));
        findings.notes()
                .add(String.format(
                        java.util.Locale.ROOT,
                        "Takeover p50 is %.2f leases, p99 %.2f leases: a dead owner's claim must lapse first, then somebody must look.",
                        p(takeovers, 0.5) / LEASE.toMillis(),
                        p(takeovers, 0.99) / LEASE.toMillis()));
        return findings;
    }

    private static void add(Sheet sheet, String what, List<Double> millis) {
        sheet.add(what, millis.size(), p(millis, 0.5), p(millis, 0.99), p(millis, 1));
    }

    private static double p(List<Double> millis, double part) {
        return Statistics.percentile(
                millis.stream().mapToDouble(Double::doubleValue).toArray(), part);
    }

    private List<Double> takeovers(Database database, int times) throws Exception {
        List<Double> millis = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            BackfillDefinition<Long> definition = SlowRepair.of("takeover." + i);
            EventTimes events = new EventTimes();
            try (Fork victim = Fork.of(
                    VictimHost.class,
                    List.of("-Xmx128m"),
                    database.url(),
                    definition.id().value(),
                    Long.toString(LEASE.toMillis()))) {
                victim.await("working");
                try (HikariDataSource pool = database.pool(3);
                        Backfills survivor = Engines.open(pool, options(LEASE), events, List.of(definition))) {
                    Patience.rest(Duration.ofMillis(random.nextInt(300)));
                    victim.kill();
                    long killed = System.nanoTime();
                    millis.add((events.first(Kind.TAKEN_OVER, definition.id(), killed) - killed) / MILLIS);
                    Engines.perform(survivor, BackfillAction.PAUSE, definition.id());
                }
            }
        }
        return millis;
    }

    private void pauses(Database database, int times, List<Double> answered, List<Double> stopped) throws Exception {
        BackfillDefinition<Long> definition = SlowRepair.of("pause.v1");
        EventTimes events = new EventTimes();
        try (HikariDataSource pool = database.pool(4);
                Backfills backfills = Engines.open(pool, options(LEASE), events, List.of(definition))) {
            Engines.start(backfills, definition.id());
            for (int i = 0; i < times; i++) {
                events.first(Kind.BATCH_COMMITTED, definition.id(), System.nanoTime());
                Patience.rest(Duration.ofNanos(random.nextInt(40_000_000)));
                long asked = System.nanoTime();
                Engines.perform(backfills, BackfillAction.PAUSE, definition.id());
                answered.add((System.nanoTime() - asked) / MILLIS);
                stopped.add((events.first(Kind.STOPPED, definition.id(), asked) - asked) / MILLIS);
                Engines.perform(backfills, BackfillAction.RESUME, definition.id());
            }
            Engines.perform(backfills, BackfillAction.PAUSE, definition.id());
        }
    }

    private List<Double> closes(Database database, int times) throws Exception {
        List<Double> millis = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            BackfillDefinition<Long> definition = SlowRepair.of("close." + i);
            EventTimes events = new EventTimes();
            try (HikariDataSource pool = database.pool(3)) {
                Backfills backfills = Engines.open(pool, options(LEASE), events, List.of(definition));
                Engines.start(backfills, definition.id());
                events.first(Kind.BATCH_COMMITTED, definition.id(), 0);
                Patience.rest(Duration.ofNanos(random.nextInt(40_000_000)));
                long asked = System.nanoTime();
                backfills.close();
                millis.add((System.nanoTime() - asked) / MILLIS);
            }
            if (database.number("select count(*) from backfill where claim_token is not null and id like 'close.%'")
                    > 0) {
                throw new IllegalStateException("A closed engine still held a claim.");
            }
        }
        return millis;
    }

    /** Asked through an engine with so many workers, beside one that has a worker. */
    private static List<Double> starts(Lab lab, int times, int workersOfTheAsked) throws Exception {
        Database database = lab.items(20_000);
        List<BackfillDefinition<?>> definitions = new ArrayList<>();
        for (int i = 0; i < times; i++) {
            definitions.add(Library.definition("start." + i, "items", Library.Style.SET, 1_000));
        }
        EventTimes events = new EventTimes();
        List<Double> millis = new ArrayList<>();
        EngineOptions asked = EngineOptions.builder().workers(workersOfTheAsked).build();
        EngineOptions other =
                EngineOptions.builder().workers(1 - workersOfTheAsked).build();
        try (HikariDataSource pool = database.pool(6);
                Backfills backfills = Engines.open(pool, asked, events, definitions);
                Backfills elsewhere = Engines.open(pool, other, events, definitions)) {
            elsewhere.requireStarted();
            for (BackfillDefinition<?> definition : definitions) {
                long now = System.nanoTime();
                Engines.start(backfills, definition.id());
                millis.add((events.first(Kind.BATCH_COMMITTED, definition.id(), now) - now) / MILLIS);
                events.first(Kind.COMPLETED, definition.id(), now);
            }
        }
        return millis;
    }
}
