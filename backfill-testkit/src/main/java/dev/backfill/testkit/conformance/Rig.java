package dev.backfill.testkit.conformance;

import dev.backfill.BackfillDefinition;
import dev.backfill.spi.ConnectionSource;
import dev.backfill.testkit.BackfillHarness;
import dev.backfill.testkit.TestDatabase;
import dev.backfill.testkit.WarmConnections;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * What every check stands on: the data as seeded, what one uninterrupted run makes of it, and engines over the real database. Checks
 * run one after the other; each begins with {@link #reset}.
 */
final class Rig<K> implements AutoCloseable {

    private static final int FEWEST_ROWS = 6;
    private static final int MOST_ROWS = 1_000;
    private static final int BATCHES = 3;

    private final TestDatabase database;
    private final Subject<K> subject;
    private final WarmConnections connections;
    private @Nullable TestData data;
    private @Nullable Snapshot seeded;
    private @Nullable Snapshot repaired;
    private List<String> order = List.of();

    Rig(TestDatabase database, Subject<K> subject) throws SQLException {
        this.database = database;
        this.subject = subject;
        this.connections = new WarmConnections(database, 2);
    }

    /** Seeds, checks that the seed can prove something, and makes the reference run. */
    void prepare() throws Exception {
        subject.definition().part().ifPresent(part -> {
            throw Advice.misuse(
                    "definition() is part " + part.index() + " of family " + part.family() + ".",
                    "Return the definition as it is before inRanges(): its repair and its validation are those of every part.");
        });
        database.clear();
        database.execute("drop schema if exists " + DataTable.COPIES + " cascade");
        try (Connection connection = database.get()) {
            subject.seed().into(connection);
            if (!connection.getAutoCommit()) {
                connection.commit();
            }
        }
        String table = subject.definition().table().toString();
        if (database.queryText(
                        "select to_regclass(?)", subject.definition().table().quoted())
                == null) {
            throw Advice.misuse(
                    "seed() made no table " + table + ".",
                    "Create the definition's source table in seed(), as production has it.");
        }
        TestData fresh = new TestData(database, subject.definition(), subject.ignored());
        this.data = fresh;
        this.order = fresh.sourceRowsInOrder();
        checkSize(table);
        fresh.save(TestData.SEED);
        this.seeded = fresh.snapshot();
        referenceRun(fresh);
    }

    private void checkSize(String table) {
        if (order.isEmpty()) {
            throw Advice.misuse(
                    "The data set is empty: seed() left no row in " + table + ".", "Insert rows that need the repair.");
        }
        if (order.size() < FEWEST_ROWS || order.size() > MOST_ROWS) {
            throw Advice.misuse(
                    "seed() left " + order.size() + " rows in " + table + ".",
                    "Insert " + FEWEST_ROWS + " to " + MOST_ROWS
                            + " rows: enough to cross batch boundaries, few enough to run it"
                            + " again and again. Twenty are a good number.");
        }
    }

    private void referenceRun(TestData fresh) {
        try (Walk walk = walk(subject.inBatchesOf(order.size() + 1))) {
            walk.startAndComplete(Advice.REFERENCE);
        }
        fresh.libraryIsThere();
        fresh.save(TestData.REPAIRED);
        this.repaired = fresh.snapshot();
        if (changes().isEmpty()) {
            throw Advice.misuse(
                    "The seed needs no repair: a whole run changed no row.",
                    "Insert rows as an old writer left them, so that the repair has something to do. If only columns that"
                            + " ignoredColumns() names changed, ignore fewer.");
        }
    }

    /** The seed is back and the library knows no backfill. */
    void reset() {
        data().reset(TestData.SEED);
    }

    /** An engine with the definition as it is. */
    Walk walk() {
        return walk(subject.definition());
    }

    /** An engine with a variant of the definition. */
    Walk walk(BackfillDefinition<?> definition) {
        return walk(definition, Integer.MAX_VALUE, connections);
    }

    /** An engine whose batches are capped, over connections of the check's choice. */
    Walk walk(BackfillDefinition<?> definition, int cap, ConnectionSource connections) {
        BackfillHarness harness = BackfillHarness.over(database)
                .definitions(definition)
                .connections(connections)
                .options(options -> options.lease(Duration.ofMinutes(5))
                        .transactionTimeout(Duration.ofMinutes(1))
                        .idleInTransactionTimeout(Duration.ofMinutes(1))
                        .batchSizeCap(Math.min(cap, BackfillDefinition.MAX_BATCH_SIZE)))
                .open();
        return new Walk(harness, definition.id());
    }

    /** What an uninterrupted run changes. */
    List<Change> changes() {
        return seeded().changesTo(repaired());
    }

    /** Whether the repair leaves every table but its source alone. */
    boolean changesOnlySource() {
        return changes().stream().allMatch(change -> change.table().equals(data().source()));
    }

    /** The source's rows as seeded, in the order of the key. */
    List<String> order() {
        return order;
    }

    /** A batch size that makes a few batches. */
    int fewBatches() {
        return Math.max(1, Math.min(subject.definition().batchSize(), (order.size() + BATCHES - 1) / BATCHES));
    }

    Snapshot seeded() {
        return Objects.requireNonNull(seeded, "prepare() comes first");
    }

    Snapshot repaired() {
        return Objects.requireNonNull(repaired, "prepare() comes first");
    }

    TestData data() {
        return Objects.requireNonNull(data, "prepare() comes first");
    }

    /** Connections for engines, open already. */
    ConnectionSource connections() {
        return connections;
    }

    TestDatabase database() {
        return database;
    }

    Subject<K> subject() {
        return subject;
    }

    @Override
    public void close() throws SQLException {
        connections.close();
    }
}
