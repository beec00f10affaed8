package dev.backfill.postgres.chaos;

import dev.backfill.testkit.TestDatabase;

/**
 * The size of a run, which follows from the kills, and where it happens.
 *
 * @param kills processes to kill
 * @param seed of every choice
 * @param rows to be repaired in each wave
 * @param waves that are at hand, more than a run can need
 */
record ChaosRun(int kills, long seed, int rows, int waves, ChaosServer server, TestDatabase database) {

    static ChaosRun of(int kills, long seed, ChaosServer server) {
        // Short waves, so that kills strike the last batch, validation and completion, too.
        return new ChaosRun(kills, seed, 3_000, 20 + kills, server, TestDatabase.create(server));
    }
}
