package dev.backfill.postgres.chaos;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.LocalDate;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;

/** What a run did and found, in Markdown. */
final class ChaosReport {

    /** What is counted in the logs of the hosts, by the engine's sentences. */
    private static final Map<String, String> SENTENCES = new TreeMap<>(Map.of(
            "Claimed a backfill", "claims taken",
            "Took over an expired claim", "claims taken over after their lease",
            "A stale owner's work was rejected", "stale owners rejected by the fence",
            "An operator moved the backfill on", "batches rolled back by a pause",
            "The unknown outcome of a COMMIT was settled", "unknown outcomes of COMMIT settled from the row",
            "An attempt failed; a retry is scheduled", "failed attempts that were retried"));

    private final ChaosRun run;
    private final Tally tally;
    private final StringBuilder text = new StringBuilder();

    ChaosReport(ChaosRun run, Tally tally) {
        this.run = run;
        this.tally = tally;
    }

    /** What the run came to. */
    record Verdict(int waves, Duration storm, Duration calm, long writes, History history, List<String> violations) {

        private String sentence() {
            if (!violations.isEmpty()) {
                return "**" + violations.size() + " violations**, see the end.";
            }
            return calm.isZero()
                    ? "**In the middle of the storm.** No rule was broken so far; whether each row was done once is asked at the end."
                    : "**Nothing was lost, nothing was done twice, no rule was broken.**";
        }
    }

    Path write(Verdict verdict, List<Host> hosts) throws IOException {
        head(verdict);
        faults();
        found(verdict, hosts);
        Path file = Path.of(System.getProperty("chaos.report", "target/chaos-report.md"));
        Files.createDirectories(file.toAbsolutePath().getParent());
        Files.writeString(file, text);
        return file;
    }

    /** Fewer than were asked for, if the time was up. */
    private int kills() {
        return tally.of(Fault.KILL.name());
    }

    private void head(Verdict verdict) {
        line(
                kills() < run.kills() ? "# Chaos report: %,d of %,d kills" : "# Chaos report: %,d kills",
                kills(),
                run.kills());
        line("");
        line("Written by the run itself: `mvn -Pchaos verify -Dkills=%d -Dchaos.seed=%d`.", kills(), run.seed());
        line("");
        line("%s", verdict.sentence());
        line("");
        line("| | |");
        line("|---|---|");
        line("| date | %s |", LocalDate.now(ZoneOffset.UTC));
        line(
                "| machine | %d processors, %s, Java %s |",
                Runtime.getRuntime().availableProcessors(),
                memory(),
                Runtime.version().feature());
        line(
                "| PostgreSQL | %s, restarted and crashed with the rest |",
                run.database().queryText("SHOW server_version"));
        line(
                "| hosts | %d processes over a fault proxy, lease %d ms |",
                ChaosSuite.PROFILES.size(), ChaosSuite.LEASE_MILLIS);
        line(
                "| storm | %s, %.1f s a kill |",
                minutes(verdict.storm()), verdict.storm().toMillis() / 1000.0 / kills());
        line("| calm at the end | %s until the last wave was completed |", minutes(verdict.calm()));
        line("| work | %d waves of %,d rows, each an increment that must happen once |", verdict.waves(), run.rows());
        line("| live workload | %,d writes meanwhile |", verdict.writes());
        line("");
    }

    private void faults() {
        line("## What struck");
        line("");
        line("| fault | times |");
        line("|---|---|");
        for (Fault fault : Fault.values()) {
            line("| %s | %,d |", fault.sentence(), tally.of(fault.name()));
        }
        line("");
        line("Who was struck was looked up while the process was stopped, so that what was seen is what died.");
        line("");
        line("| struck | killed | frozen |");
        line("|---|---|---|");
        for (String kind : List.of(Storm.OWNER_IN_BATCH, Storm.OWNER, Storm.ANOTHER)) {
            line("| %s | %,d | %,d |", kind, tally.of("kill: " + kind), tally.of("freeze: " + kind));
        }
        line("");
        line(
                "Frozen owners that were overtaken before they went on: %,d with an idle-in-transaction timeout above the lease, where"
                        + " only the fence stands between them and the data, and %,d below it. Answers to COMMIT that got lost: %,d.",
                tally.of(Storm.OVERTAKEN + ", " + Host.Profile.PATIENT_SERVER),
                tally.of(Storm.OVERTAKEN + ", " + Host.Profile.STRICT_SERVER),
                tally.of(Storm.ANSWERS_LOST));
        line("");
    }

    private void found(Verdict verdict, List<Host> hosts) throws IOException {
        line("## What was seen");
        line("");
        line("| | |");
        line("|---|---|");
        line(
                "| versions of rows checked, each one that was ever committed | %,d |",
                verdict.history().versions());
        line("| batches committed | %,d |", verdict.history().batches());
        line(
                "| owners, each with a generation of its own | %,d |",
                verdict.history().acquisitions());
        line(
                "| processes launched | %,d |",
                hosts.stream().mapToInt(Host::launches).sum());
        for (Map.Entry<String, String> sentence : SENTENCES.entrySet()) {
            line("| %s, by the hosts' logs | %,d |", sentence.getValue(), logged(hosts, sentence.getKey()));
        }
        line("");
        line(
                "The checker demands: each row incremented once a wave, rows beyond the bound untouched; generations that rise with each");
        line(
                "owner, one owner a generation; a checkpoint that never goes back, never passes the bound and moves only with a batch of");
        line(
                "its owner; a bound that never changes; only transitions of the table, and what operators did as often in the audit as in the rows; nothing after");
        line("`completed`.");
        if (!verdict.violations().isEmpty()) {
            line("");
            line("## Violations");
            line("");
            verdict.violations().forEach(violation -> line("- %s", violation));
        }
    }

    private static long logged(List<Host> hosts, String sentence) throws IOException {
        long count = 0;
        for (Host host : hosts) {
            try (Stream<String> lines = Files.lines(host.log().toPath())) {
                count += lines.filter(line -> line.contains(sentence)).count();
            }
        }
        return count;
    }

    private static String memory() {
        long bytes = ((com.sun.management.OperatingSystemMXBean) ManagementFactory.getOperatingSystemMXBean())
                .getTotalMemorySize();
        return Math.round(bytes / 1e9) + " GB";
    }

    private static String minutes(Duration duration) {
        return "%d min %02d s".formatted(duration.toMinutes(), duration.toSecondsPart());
    }

    private void line(String format, Object... arguments) {
        text.append(String.format(java.util.Locale.ROOT, format, arguments)).append('\n');
    }
}
