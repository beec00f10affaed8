package dev.backfill.postgres.conformance;

import dev.backfill.Backfill;
import dev.backfill.BackfillDefinition;
import dev.backfill.Batch;
import dev.backfill.CompoundKey;
import dev.backfill.Keys;
import dev.backfill.testkit.TestDatabase;
import dev.backfill.testkit.conformance.DefinitionConformance;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ThreadLocalRandom;

/** Repairs with one fault each, such as people write. Run by {@code PlantedFaultsIT} only. */
final class PlantedRepairs {

    private static final String UPDATE = "UPDATE items SET digest = upper(content) WHERE ";

    private PlantedRepairs() {}

    static class CommitsByCall extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) -> {
                long changed = lockComputeWrite(batch, tx.connection());
                tx.connection().commit();
                return changed;
            });
        }
    }

    static class CommitsBySql extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) -> {
                long changed = lockComputeWrite(batch, tx.connection());
                try (Statement statement = tx.connection().createStatement()) {
                    statement.execute("SELECT 1; /* done */ COMMIT");
                }
                return changed;
            });
        }
    }

    static class RaisesItsLockTimeout extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) -> {
                try (Statement statement = tx.connection().createStatement()) {
                    statement.execute("SET lock_timeout = '1h'");
                }
                return lockComputeWrite(batch, tx.connection());
            });
        }
    }

    static class UsesAConnectionOfItsOwn extends Items {
        private final TestDatabase database;

        UsesAConnectionOfItsOwn(TestDatabase database) {
            this.database = database;
        }

        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) -> {
                try (Connection own = database.get()) {
                    return lockComputeWrite(batch, own);
                }
            });
        }
    }

    static class ComputesFromUnlockedRows extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) -> write(tx.connection(), read(batch, tx.connection(), "")));
        }
    }

    static class SkipsLockedRows extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) ->
                    write(tx.connection(), read(batch, tx.connection(), " FOR NO KEY UPDATE SKIP LOCKED")));
        }
    }

    static class MovesItsKeys extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) -> update(
                    tx.connection(),
                    "UPDATE items SET digest = upper(content), id = id + 1000 WHERE digest IS NULL AND id = ANY (?)",
                    batch.keys()));
        }
    }

    static class InsertsIntoItsSource extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) -> {
                update(
                        tx.connection(),
                        "INSERT INTO items SELECT id + 10000, content, upper(content) FROM items WHERE digest IS NULL AND id = ANY (?)",
                        batch.keys());
                return lockComputeWrite(batch, tx.connection());
            });
        }
    }

    static class RewritesDoneRows extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) -> update(tx.connection(), UPDATE + "id = ANY (?)", batch.keys()));
        }
    }

    static class RepairsTheWholeTable extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) ->
                    update(tx.connection(), UPDATE + "digest IS NULL AND cardinality(?) > 0", batch.keys()));
        }
    }

    static class GoesOneKeyTooFar extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) -> update(
                    tx.connection(),
                    UPDATE + "digest IS NULL AND id BETWEEN (SELECT min(k) FROM unnest(?) k) AND "
                            + (batch.keys().get(batch.size() - 1) + 10),
                    batch.keys()));
        }
    }

    static class RepairsBeyondTheBound extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) -> update(
                    tx.connection(),
                    UPDATE + "digest IS NULL AND id >= (SELECT min(k) FROM unnest(?) k)",
                    batch.keys()));
        }
    }

    static class RemembersWhatItDid extends Items {
        private final Set<Long> done = new HashSet<>();

        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) -> {
                Map<Long, String> digests = read(batch, tx.connection(), " FOR NO KEY UPDATE");
                digests.keySet().removeAll(done);
                done.addAll(digests.keySet());
                return write(tx.connection(), digests);
            });
        }
    }

    static class DependsOnThePlaceInTheBatch extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) -> {
                Map<Long, String> digests = read(batch, tx.connection(), " FOR NO KEY UPDATE");
                digests.replaceAll((id, digest) -> digest + " #" + batch.keys().indexOf(id));
                return write(tx.connection(), digests);
            });
        }
    }

    static class WritesRandomValues extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) -> {
                Map<Long, String> digests = read(batch, tx.connection(), " FOR NO KEY UPDATE");
                digests.replaceAll((id, digest) ->
                        Long.toHexString(ThreadLocalRandom.current().nextLong()));
                return write(tx.connection(), digests);
            });
        }
    }

    static class SwallowsSqlErrors extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) -> {
                long changed = lockComputeWrite(batch, tx.connection());
                try (Statement statement = tx.connection().createStatement()) {
                    statement.execute("INSERT INTO no_such_table VALUES (1)");
                } catch (SQLException e) {
                    return changed;
                }
                return changed;
            });
        }
    }

    static class ReportsTooMuch extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) -> 100 + lockComputeWrite(batch, tx.connection()));
        }
    }

    static class ReportsLessThanNothing extends Items {
        @Override
        protected BackfillDefinition<Long> definition() {
            return repairedBy((batch, tx) -> -1 - lockComputeWrite(batch, tx.connection()));
        }
    }

    /** One row for each value of the first column: with batches of one all are met, with larger ones the ties are lost. */
    static class SkipsTies extends DefinitionConformance<CompoundKey> {
        @Override
        protected BackfillDefinition<CompoundKey> definition() {
            return Backfill.define("ties.digest.v1")
                    .over("ties", Keys.compound(Keys.integer("grp"), Keys.integer("id")))
                    .repair((batch, tx) -> repair(batch, tx.connection()))
                    .validate(Items.PROOF)
                    .build();
        }

        private static long repair(Batch<CompoundKey> batch, Connection connection) throws SQLException {
            Map<Integer, Integer> firstOfEach = new LinkedHashMap<>();
            for (CompoundKey key : batch.keys()) {
                firstOfEach.putIfAbsent(key.part(0, Integer.class), key.part(1, Integer.class));
            }
            long changed = 0;
            try (PreparedStatement update = connection.prepareStatement(
                    "UPDATE ties SET digest = 'd' WHERE digest IS NULL AND grp = ? AND id = ?")) {
                for (Map.Entry<Integer, Integer> key : firstOfEach.entrySet()) {
                    update.setInt(1, key.getKey());
                    update.setInt(2, key.getValue());
                    changed += update.executeUpdate();
                }
            }
            return changed;
        }

        @Override
        protected void seed(Connection database) throws SQLException {
            try (Statement statement = database.createStatement()) {
                statement.execute("CREATE TABLE ties (grp int, id int, digest text, PRIMARY KEY (grp, id))");
                statement.execute("INSERT INTO ties SELECT g / 4, g FROM generate_series(1, 12) g");
            }
        }
    }
}
