package dev.backfill.postgres.chaos;

import dev.backfill.testkit.TestDatabase;

/**
 * The size of a run, which follows from the kills, and where it happens.
 *
 * @param kills processes to kill
 * @param seed of every choice
 * @param rows to be repaired in each wave
 * @param waves that are at hand
 */
record ChaosRun(int kills, long seed, int rows, int waves, ChaosServer server, TestDatabase database) {

    static ChaosRun of(int kills, long seed, ChaosServer server) {
        return new ChaosRun(
                kills,
                seed,
                Math.min(20_000, 3_000 + 150 * kills),
                10 + kills / 5,
                server,
                TestDatabase.create(server));
    }
}
