package dev.backfill.postgres.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillDefinition;
import dev.backfill.BackfillId;
import dev.backfill.operate.BackfillState;
import dev.backfill.postgres.chaos.ChaosReport.Verdict;
import dev.backfill.postgres.chaos.Host.Profile;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.FaultProxy;
import dev.backfill.testkit.TestDatabase;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Host processes over one database with a faulty network between, killed, frozen, cut off and paused at random, aimed at whoever owns
 * the open batch. Nothing may be lost, nothing done twice, and when the faults end the work is finished. Run with
 * {@code mvn -Pchaos verify -Dkills=100}; {@code -Dchaos.seed} repeats the choices of a run, {@code -Dchaos.minutes} ends the
 * storm after that time however many were killed, {@code -Dchaos.report} names the file that says what happened.
 */
class ChaosSuite {

    static final long LEASE_MILLIS = 1_000;

    /** Most hosts have the timeout above the lease, or the server would end stale owners and hide a missing fence. */
    static final List<Profile> PROFILES =
            List.of(Profile.PATIENT_SERVER, Profile.PATIENT_SERVER, Profile.STRICT_SERVER);

    private final int kills = Integer.getInteger("kills", 100);
    private final Duration limit = Duration.ofMinutes(Integer.getInteger("chaos.minutes", 24 * 60));
    private final long seed =
            Long.getLong("chaos.seed", ThreadLocalRandom.current().nextLong());
    private final Random random = new Random(seed);
    private final List<Host> hosts = new ArrayList<>();

    @TempDir
    Path directory;

    @Test
    void nothing_is_lost_and_nothing_is_done_twice()
            throws Exception { // AT-1, AT-3, CL-1, CL-2, CL-5, CL-6, LC-2, SR-1, SR-3
        System.out.println("chaos: kills=" + kills + " seed=" + seed);
        try (ChaosServer server = new ChaosServer(directory)) {
            ChaosRun run = ChaosRun.of(kills, seed, server);
            TestDatabase database = run.database();
            database.execute("CREATE TABLE chaos (id bigint PRIMARY KEY, hits int, touched int NOT NULL DEFAULT 0)");
            database.execute("INSERT INTO chaos SELECT g, 0 FROM generate_series(1, ?) g", run.rows());
            try (BackfillHarness operator = BackfillHarness.over(database)
                    .definitions(Waves.first(run.waves()).toArray(new BackfillDefinition<?>[0]))
                    .open()) {
                storm(run, operator);
            } finally {
                for (Host host : hosts) {
                    host.end();
                }
            }
        }
    }

    private void storm(ChaosRun run, BackfillHarness operator) throws Exception {
        History history = History.of(run.database());
        // The text of a COMMIT must be on the wire for its answer to be lost.
        try (FaultProxy proxy = FaultProxy.before(run.database().jdbcUrl() + "&prepareThreshold=0");
                Traffic traffic = new Traffic(run.database(), run.rows(), random.nextLong())) {
            for (Profile profile : PROFILES) {
                hosts.add(new Host(hosts.size(), profile, proxy.jdbcUrl(), directory));
            }
            long began = System.nanoTime();
            try (Storm storm = new Storm(run, operator, proxy, hosts, random)) {
                int wave = storm.rage(
                        run.kills(), limit, now -> interim(run, storm, now, elapsed(began), traffic, history));
                long ended = System.nanoTime();
                proxy.heal();
                List<String> violations = new ArrayList<>(calm(operator, wave));
                long over = System.nanoTime();
                traffic.end();
                violations.addAll(wrongRows(run, wave));
                violations.addAll(history.violations());
                judge(
                        run,
                        storm.tally(),
                        new Verdict(
                                wave,
                                Duration.ofNanos(ended - began),
                                Duration.ofNanos(over - ended),
                                traffic.writes(),
                                history,
                                violations));
            }
        }
    }

    /** A run that is stopped has said at least what it had seen. */
    private void interim(ChaosRun run, Storm storm, int wave, Duration soFar, Traffic traffic, History history)
            throws IOException {
        try {
            new ChaosReport(run, storm.tally())
                    .write(
                            new Verdict(wave, soFar, Duration.ZERO, traffic.writes(), history, history.violations()),
                            hosts);
        } catch (IllegalStateException e) {
            System.out.println("chaos: the server is down, the interim report comes later");
        }
    }

    private static Duration elapsed(long began) {
        return Duration.ofNanos(System.nanoTime() - began);
    }

    private void judge(ChaosRun run, Tally tally, Verdict verdict) throws IOException {
        Path report = new ChaosReport(run, tally).write(verdict, hosts);
        System.out.println("chaos: " + tally + ", wave " + verdict.waves() + "; see " + report.toAbsolutePath());
        assertThat(verdict.violations()).as("seed %s, %s", seed, tally).isEmpty();
        assertThat(verdict.history().batches()).isGreaterThanOrEqualTo((verdict.waves() - 1L) * run.rows() / 50);
        assertThat(verdict.writes()).isPositive();
    }

    /** After the faults, whatever is under way is finished; operators do what operators do. */
    private static List<String> calm(BackfillHarness operator, int wave) {
        BackfillId id = Waves.id(wave);
        try {
            Eventually.within(Duration.ofMinutes(5)).holds("wave " + wave + " is completed", () -> {
                switch (operator.state(id)) {
                    case PAUSED -> operator.resume(id);
                    case BLOCKED, FAILED -> operator.retry(id);
                    default -> java.util.concurrent.locks.LockSupport.parkNanos(50_000_000);
                }
                return operator.state(id) == BackfillState.COMPLETED;
            });
            return List.of();
        } catch (AssertionError e) {
            return List.of("the calm did not finish the work: " + e.getMessage() + " " + operator.row(id));
        }
    }

    /** A row that was not incremented once in each wave was missed, or repaired twice. */
    private static List<String> wrongRows(ChaosRun run, int wave) {
        List<String> wrong = new ArrayList<>();
        for (Map<String, String> row : run.database()
                .queryRows(
                        "SELECT id, hits FROM chaos WHERE (id <= ? AND hits IS DISTINCT FROM ?) OR (id > ? AND hits IS NOT NULL) LIMIT 5",
                        run.rows(),
                        wave,
                        run.rows())) {
            wrong.add("not incremented once in each of " + wave + " waves: " + row);
        }
        long rows = run.database().queryLong("SELECT count(*) FROM chaos WHERE id <= ?", run.rows());
        if (rows != run.rows()) {
            wrong.add("rows below the bound: " + rows + " of " + run.rows());
        }
        return wrong;
    }
}
