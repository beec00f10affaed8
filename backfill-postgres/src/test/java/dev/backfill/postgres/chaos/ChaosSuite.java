package dev.backfill.postgres.chaos;

import static org.assertj.core.api.Assertions.assertThat;

import dev.backfill.BackfillId;
import dev.backfill.BackfillState;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.Eventually;
import dev.backfill.testkit.FaultProxy;
import dev.backfill.testkit.PostgresTest;
import dev.backfill.testkit.TestDatabase;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ThreadLocalRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Host processes over one database with a faulty network between, killed, frozen, cut off and paused at random, aimed at whoever owns
 * the open batch. Nothing may be lost, nothing done twice, and when the faults end the work is finished. Run with
 * {@code mvn -Pchaos verify -Dkills=100}; {@code -Dchaos.seed} repeats the choices of a run.
 */
@PostgresTest
class ChaosSuite {

    private static final int HOSTS = 3;
    private static final int ROWS = 1_500;
    private static final long LEASE_MILLIS = 2_000;

    private final int kills = Integer.getInteger("kills", 100);
    private final long seed =
            Long.getLong("chaos.seed", ThreadLocalRandom.current().nextLong());
    private final Random random = new Random(seed);
    private final Map<String, Integer> struck = new TreeMap<>();
    private final TestDatabase database;

    ChaosSuite(TestDatabase database) {
        this.database = database;
    }

    @Test
    void nothing_is_lost_and_nothing_is_done_twice(@TempDir Path directory)
            throws Exception { // AT-1, AT-3, CL-1, CL-2, CL-5, CL-6
        System.out.println("chaos: kills=" + kills + " seed=" + seed);
        database.execute("CREATE TABLE chaos (id bigint PRIMARY KEY, hits int, touched int NOT NULL DEFAULT 0)");
        database.execute("INSERT INTO chaos SELECT g, 0 FROM generate_series(1, ?) g", ROWS);
        BackfillHarness operator = BackfillHarness.over(database)
                .definitions(Waves.all().toArray(new dev.backfill.BackfillDefinition<?>[0]))
                .open();
        List<Host> hosts = new ArrayList<>();
        int wave;
        try (FaultProxy proxy = FaultProxy.before(database.jdbcUrl() + "&prepareThreshold=0");
                Witness witness = new Witness(database);
                Traffic traffic = new Traffic(database, random.nextLong())) {
            // Above the lease, or the server would end stale owners before the fence has to.
            long idle = 5 * LEASE_MILLIS;
            for (int i = 0; i < HOSTS; i++) {
                hosts.add(new Host("host-" + i, proxy.jdbcUrl(), LEASE_MILLIS, idle, directory));
            }
            wave = new Storm(this, operator, proxy, hosts).rage();
            proxy.heal();
            calm(operator, wave);
            assertThat(witness.violations()).as("seed %s", seed).isEmpty();
            assertThat(witness.looks()).isPositive();
            assertThat(traffic.writes()).isPositive();
        } finally {
            for (Host host : hosts) {
                host.end();
            }
            operator.close();
        }
        System.out.println("chaos: " + struck + ", " + wave + " waves of " + ROWS + " rows");
        assertThat(database.queryRows("SELECT hits, count(*) FROM chaos WHERE id <= ? GROUP BY hits", ROWS))
                .as("each row once in each of %s waves, seed %s", wave, seed)
                .isEqualTo(List.of(Map.of("hits", Integer.toString(wave), "count", Integer.toString(ROWS))));
        assertThat(database.queryLong("SELECT count(*) FROM chaos WHERE id > ? AND hits IS NOT NULL", ROWS))
                .isZero();
        assertAuditIsLegal();
    }

    /** After the faults, whatever is under way is finished; operators do what operators do. */
    private void calm(BackfillHarness operator, int wave) {
        BackfillId id = Waves.id(wave);
        Eventually.within(Duration.ofMinutes(3)).holds("wave " + wave + " is completed, seed " + seed, () -> {
            switch (operator.state(id)) {
                case PAUSED -> operator.resume(id);
                case BLOCKED, FAILED -> operator.retry(id);
                default -> java.util.concurrent.locks.LockSupport.parkNanos(50_000_000);
            }
            return operator.state(id) == BackfillState.COMPLETED;
        });
    }

    private void assertAuditIsLegal() {
        for (Map<String, String> entry : database.queryRows(
                "SELECT DISTINCT prior_state, resulting_state FROM backfill_audit"
                        + " WHERE outcome = 'applied' AND prior_state IS NOT NULL AND prior_state <> resulting_state")) {
            BackfillState prior = BackfillState.ofWireName(entry.get("prior_state"));
            assertThat(prior.next()).contains(BackfillState.ofWireName(entry.get("resulting_state")));
        }
    }

    TestDatabase database() {
        return database;
    }

    Random random() {
        return random;
    }

    int kills() {
        return kills;
    }

    void count(String fault) {
        struck.merge(fault, 1, Integer::sum);
    }
}
